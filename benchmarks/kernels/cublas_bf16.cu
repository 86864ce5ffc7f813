// Times of cuBLAS's product of bf16 matrices, by the protocol of repeated_calls.cuh. The matrices are those of
// warpgroup_products.mojo; the results are stored as float32, as there, and as bf16.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/kernels/cublas_bf16.cu -o cublas_bf16 -lcublas

#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "repeated_calls.cuh"

__nv_bfloat16 *filled(size_t count, int period) {
    std::vector<__nv_bfloat16> host(count);
    for (size_t i = 0; i < count; ++i) host[i] = __float2bfloat16(static_cast<float>(static_cast<int>(i % period) - period / 2));
    __nv_bfloat16 *device = nullptr;
    CHECK(cudaMalloc(&device, count * sizeof(__nv_bfloat16)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(__nv_bfloat16), cudaMemcpyHostToDevice));
    return device;
}

void product(const Timer &timer, cublasHandle_t handle, const char *name, cudaDataType_t type, int n, bool once) {
    size_t count = static_cast<size_t>(n) * n;
    __nv_bfloat16 *x = filled(count, 7), *weights = filled(count, 5);
    void *out = nullptr;
    CHECK(cudaMalloc(&out, count * 4));
    float one = 1, zero = 0;
    // Matrices are stored by columns there: the rows of the weights times those of x.
    auto call = [&] {
        CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, weights, CUDA_R_16BF, n, x, CUDA_R_16BF, n,
                           &zero, out, type, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    };
    if (once) {
        call();
        CHECK(cudaDeviceSynchronize());
    } else {
        Sample own = timer.repeat(call);
        std::printf("%-28s%12zu%6d%13.2f%7.2f%s\n", name, count, own.repetitions, own.mean, own.error * 100, own.note());
        std::fflush(stdout);
    }
    cudaFree(x), cudaFree(weights), cudaFree(out);
}

int main(int count, char **) {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("device: %s\n", device.name);
    Timer timer(new_stream());
    cublasHandle_t handle;
    CHECK(cublasCreate(&handle));
    CHECK(cublasSetStream(handle, timer.stream));
    void *workspace = nullptr;
    CHECK(cudaMalloc(&workspace, 64 << 20));
    CHECK(cublasSetWorkspace(handle, workspace, 64 << 20));
    int version = 0;
    CHECK(cublasGetVersion(handle, &version));
    std::printf("cuBLAS %d\n", version);
    for (int n : {4096, 8192}) {
        product(timer, handle, "cuBLAS: float32 results", CUDA_R_32F, n, count > 1);
        product(timer, handle, "cuBLAS: bf16 results", CUDA_R_16BF, n, count > 1);
        if (count > 1) break;
    }
}
