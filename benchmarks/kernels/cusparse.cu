// cuSPARSE's product of a sparse matrix and a vector in float32, by the protocol of repeated_calls.cuh. The
// matrices are those of sparse_product.mojo, in CSR, and the results are compared. `default` is
// CUSPARSE_SPMV_ALG_DEFAULT, `1` and `2` are CUSPARSE_SPMV_CSR_ALG1 and ALG2. The analysis of a matrix
// (cusparseSpMV_preprocess) is not part of the time, except in the rows `not prepared`, which have none.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/kernels/cusparse.cu -o cusparse -lcusparse

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <cusparse.h>

#include "repeated_calls.cuh"

enum Kind { BANDED, UNIFORM, POWER_LAW, EMPTY_ROWS, HUGE_ROWS, KINDS };
const char *const NAMES[] = {"banded", "uniform", "power law", "empty rows", "huge rows"};

uint32_t mixed(int64_t number) {
    uint32_t x = static_cast<uint32_t>(number);
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return x;
}

int64_t length_of(Kind kind, int64_t row, int64_t rows, int64_t cols) {
    switch (kind) {
    case BANDED: return 16;
    case UNIFORM: return 8 + mixed(row) % 16;
    case POWER_LAW: {
        uint32_t random = mixed(row);
        int64_t least = int64_t(1) << std::min(random ? __builtin_clz(random) : 32, 14);
        return std::min(least + int64_t(mixed(row + 0x10000000)) % least, cols);
    }
    case EMPTY_ROWS: return mixed(row) % 8 == 0 ? 16 + mixed(row + 0x10000000) % 16 : 0;
    default: return row % (rows / 8) == rows / 16 ? cols : 8;
    }
}

int64_t column_of(Kind kind, int64_t row, int64_t j, int64_t length, int64_t cols) {
    if (kind == BANDED) return std::min(std::max<int64_t>(row - 8, 0), cols - length) + j;
    int64_t random = mixed(row * 31 + j);
    if (kind == POWER_LAW) {
        // Below 2^32: the square is below 2^64.
        uint64_t place = ((uint64_t(j) << 32) + random) / length;
        return static_cast<int64_t>((((place * place) >> 32) * cols) >> 32);
    }
    return (j * cols + random % cols) / length;
}

template <typename T> T *on_device(const std::vector<T> &host) {
    T *device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

void product(const Timer &timer, cusparseHandle_t handle, Kind kind, int64_t size) {
    int64_t rows = kind == EMPTY_ROWS ? 4 * size : size, cols = size;
    std::vector<int> starts(rows + 1), columns;
    std::vector<float> values, x(cols), expected(rows), out(rows);
    for (int64_t c = 0; c < cols; ++c) x[c] = static_cast<float>(c % 5);
    for (int64_t row = 0; row < rows; ++row) {
        int64_t length = length_of(kind, row, rows, cols), sum = 0;
        for (int64_t j = 0; j < length; ++j) {
            int64_t column = column_of(kind, row, j, length, cols), value = 1 + columns.size() % 3;
            columns.push_back(static_cast<int>(column));
            values.push_back(static_cast<float>(value));
            sum += value * (column % 5);
        }
        expected[row] = static_cast<float>(sum);
        starts[row + 1] = static_cast<int>(columns.size());
    }
    size_t nonzeros = columns.size();
    int *device_starts = on_device(starts), *device_columns = on_device(columns);
    float *device_values = on_device(values), *device_x = on_device(x), *device_out = on_device(out);
    struct Way {
        const char *name;
        cusparseSpMVAlg_t algorithm;
        bool prepared;
    };
    for (Way way : {Way{"cuSPARSE default", CUSPARSE_SPMV_ALG_DEFAULT, true},
                    Way{"cuSPARSE 1", CUSPARSE_SPMV_CSR_ALG1, true},
                    Way{"cuSPARSE 2", CUSPARSE_SPMV_CSR_ALG2, true},
                    Way{"not prepared", CUSPARSE_SPMV_ALG_DEFAULT, false}}) {
        CHECK(cudaMemset(device_out, 0xff, rows * sizeof(float)));
        cusparseSpMatDescr_t matrix;
        cusparseDnVecDescr_t vector, result;
        CHECK(cusparseCreateCsr(&matrix, rows, cols, nonzeros, device_starts, device_columns, device_values,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
        CHECK(cusparseCreateDnVec(&vector, cols, device_x, CUDA_R_32F));
        CHECK(cusparseCreateDnVec(&result, rows, device_out, CUDA_R_32F));
        float one = 1, zero = 0;
        size_t scratch_bytes = 0;
        void *scratch = nullptr;
        CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vector, &zero, result,
                                      CUDA_R_32F, way.algorithm, &scratch_bytes));
        CHECK(cudaMalloc(&scratch, std::max<size_t>(scratch_bytes, 1)));
        if (way.prepared)
            CHECK(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vector, &zero,
                                          result, CUDA_R_32F, way.algorithm, scratch));
        size_t bytes = 8 * nonzeros + 8 * rows + 4 + 4 * cols;
        std::string name = std::string(way.name) + ", " + NAMES[kind];
        Sample own = timer.repeat([&] {
            CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vector, &zero, result,
                               CUDA_R_32F, way.algorithm, scratch));
        });
        std::printf("%-28s%12zu%6d%13.2f%7.2f%9.1f%s\n", name.c_str(), nonzeros, own.repetitions, own.mean,
                    own.error * 100, bytes / own.mean / 1e3, own.note());
        std::fflush(stdout);
        CHECK(cudaMemcpy(out.data(), device_out, rows * sizeof(float), cudaMemcpyDeviceToHost));
        for (int64_t row = 0; row < rows; ++row)
            if (out[row] != expected[row]) {
                std::fprintf(stderr, "%s: row %lld is %g, not %g\n", NAMES[kind], static_cast<long long>(row), out[row],
                             expected[row]);
                std::exit(1);
            }
        CHECK(cusparseDestroySpMat(matrix));
        CHECK(cusparseDestroyDnVec(vector));
        CHECK(cusparseDestroyDnVec(result));
        CHECK(cudaFree(scratch));
    }
    CHECK(cudaFree(device_starts));
    CHECK(cudaFree(device_columns));
    CHECK(cudaFree(device_values));
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_out));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    Timer timer(new_stream());
    cusparseHandle_t handle;
    CHECK(cusparseCreate(&handle));
    CHECK(cusparseSetStream(handle, timer.stream));
    int version = 0;
    CHECK(cusparseGetVersion(handle, &version));
    std::printf("device: %s\ncuSPARSE %d\n", device.name, version);
    for (int kind = 0; kind < KINDS; ++kind) product(timer, handle, static_cast<Kind>(kind), 1 << 20);
}
