def main():
    # ANCHOR: numbers
    var index = 6  # an Int: 64 bits, for indices and counts
    var size = Int32(8)  # exactly 32 bits, as a kernel's argument
    var weight = Float32(0.5)
    if index < Int(size) and weight > 0:
        print("inside:", Float32(index) * weight)
    # ANCHOR_END: numbers

    # ANCHOR: scalars
    comptime dtype = DType.float32
    var sum = Scalar[dtype](0)  # the same type as Float32(0)
    for i in range(4):
        sum += Scalar[dtype](i)
    var four = SIMD[dtype, 4](1, 2, 3, 4)
    print("sum:", sum, "four at once:", four * 10)
    # ANCHOR_END: scalars
