// CUB's sum, histogram, prefix sum and radix sort, by the protocol of repeated_calls.cuh. The inputs are those of
// array_sums.mojo, histogram.mojo, prefix_sums.mojo and puzzle 39, and the results are compared.
//
//     nvcc -O3 -arch=sm_90 benchmarks/kernels/cub.cu -o cub

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <cub/cub.cuh>

#include "repeated_calls.cuh"

static Sample repeat(const std::function<void()>& launch) {
  static const Timer timer(nullptr);
  return timer.repeat(launch);
}

static void measure(const std::string& name, size_t elements, size_t bytes, const std::function<void()>& launch) {
  void *source, *target;
  CHECK(cudaMalloc(&source, bytes / 2));
  CHECK(cudaMalloc(&target, bytes / 2));
  CHECK(cudaMemset(source, 1, bytes / 2));
  Sample copy = repeat([&] { CHECK(cudaMemcpyAsync(target, source, bytes / 2, cudaMemcpyDeviceToDevice)); });
  Sample own = repeat(launch);
  std::printf("%-28s%12zu%6d%13.2f%7.2f%9.1f%9.3f%s\n", name.c_str(), elements, own.repetitions, own.mean,
              100 * own.error, bytes / own.mean / 1e3, copy.mean / own.mean, own.note());
  std::fflush(stdout);
  CHECK(cudaFree(source));
  CHECK(cudaFree(target));
}

static void sums(size_t size) {
  std::vector<float> host(size);
  for (size_t i = 0; i < size; i++) host[i] = i % 4 == 0;
  float *a, *out;
  CHECK(cudaMalloc(&a, 4 * size));
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMemcpy(a, host.data(), 4 * size, cudaMemcpyHostToDevice));
  size_t bytes = 0;
  void* scratch = nullptr;
  CHECK(cub::DeviceReduce::Sum(scratch, bytes, a, out, (int)size));
  CHECK(cudaMalloc(&scratch, bytes));
  measure("CUB sum", size, 4 * size, [&] { CHECK(cub::DeviceReduce::Sum(scratch, bytes, a, out, (int)size)); });
  float result;
  CHECK(cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost));
  if (result != (size + 3) / 4) std::printf("wrong sum: %f\n", result);
  CHECK(cudaFree(scratch));
  CHECK(cudaFree(a));
  CHECK(cudaFree(out));
}

static void histograms(size_t size) {
  for (std::string kind : {"uniform", "runs", "equal"}) {
    std::vector<uint8_t> host(size);
    std::vector<unsigned> expected(256), counts(256);
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
      state = state * 1664525u + 1013904223u;
      host[i] = kind == "uniform" ? state >> 24 : kind == "runs" ? i / 500 & 255 : 200;
      expected[host[i]]++;
    }
    uint8_t* a;
    unsigned* out;
    CHECK(cudaMalloc(&a, size));
    CHECK(cudaMalloc(&out, 4 * 256));
    CHECK(cudaMemcpy(a, host.data(), size, cudaMemcpyHostToDevice));
    size_t bytes = 0;
    void* scratch = nullptr;
    auto launch = [&] { CHECK(cub::DeviceHistogram::HistogramEven(scratch, bytes, a, out, 257, 0, 256, (int)size)); };
    launch();
    CHECK(cudaMalloc(&scratch, bytes));
    measure("CUB histogram, " + kind, size, size, launch);
    CHECK(cudaMemcpy(counts.data(), out, 4 * 256, cudaMemcpyDeviceToHost));
    if (counts != expected) std::printf("wrong histogram of %s\n", kind.c_str());
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(a));
    CHECK(cudaFree(out));
  }
}

static void prefix_sums(size_t size) {
  std::vector<int> host(size), results(size);
  for (size_t i = 0; i < size; i++) host[i] = (int)(i % 13) - 3;
  int *in, *out;
  CHECK(cudaMalloc(&in, 4 * size));
  CHECK(cudaMalloc(&out, 4 * size));
  CHECK(cudaMemcpy(in, host.data(), 4 * size, cudaMemcpyHostToDevice));
  size_t bytes = 0;
  void* scratch = nullptr;
  auto launch = [&] { CHECK(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, (int)size)); };
  launch();
  CHECK(cudaMalloc(&scratch, bytes));
  measure("CUB prefix sum", size, 8 * size, launch);
  CHECK(cudaMemcpy(results.data(), out, 4 * size, cudaMemcpyDeviceToHost));
  int sum = 0;
  for (size_t i = 0; i < size; i++) {
    sum += host[i];
    if (results[i] != sum) {
      std::printf("wrong prefix sum %zu\n", i);
      break;
    }
  }
  CHECK(cudaFree(scratch));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

static void sorts(size_t size) {
  std::vector<uint32_t> host(size), keys(size), values(size);
  uint32_t state = 1;
  for (size_t i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    host[i] = i % 5 == 4 ? host[i - 3] : state ^ state >> 15;
    values[i] = (uint32_t)i;
  }
  uint32_t *source[2], *target[2];
  for (int i = 0; i < 2; i++) {
    CHECK(cudaMalloc(&source[i], 4 * size));
    CHECK(cudaMalloc(&target[i], 4 * size));
  }
  CHECK(cudaMemcpy(source[0], host.data(), 4 * size, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(source[1], values.data(), 4 * size, cudaMemcpyHostToDevice));
  size_t bytes = 0;
  void* scratch = nullptr;
  auto launch = [&] {
    CHECK(cub::DeviceRadixSort::SortPairs(scratch, bytes, source[0], target[0], source[1], target[1], (int)size));
  };
  launch();
  CHECK(cudaMalloc(&scratch, bytes));
  measure("CUB sort of pairs", size, 16 * size, launch);
  CHECK(cudaMemcpy(keys.data(), target[0], 4 * size, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(values.data(), target[1], 4 * size, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < size; i++) {
    bool ordered = i == 0 || keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]);
    if (!ordered || keys[i] != host[values[i]]) {
      std::printf("wrong pair %zu\n", i);
      break;
    }
  }
  CHECK(cudaFree(scratch));
  for (int i = 0; i < 2; i++) {
    CHECK(cudaFree(source[i]));
    CHECK(cudaFree(target[i]));
  }
}

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "CUB %d\n", CUB_VERSION);
  std::printf("device: %s\n", device.name);
  std::printf("%-28s%12s%6s%13s%7s%9s%9s\n", "kernel", "elements", "runs", "mean (us)", "+- %", "GB/s", "of copy");
  for (size_t size : {16u << 20, 64u << 20}) {
    sums(size);
    prefix_sums(size);
    sorts(size);
  }
  histograms(1056u * 256 * 16 * 31);
}
