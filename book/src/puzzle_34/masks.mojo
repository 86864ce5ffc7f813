from max.gpu.primitives.cluster import cluster_mask_base
from std.utils import Index


def main():
    # ANCHOR: masks
    print("4 blocks in a row:", cluster_mask_base[Index(4, 1, 1), 0]())
    print("2 x 2 blocks, along x:", cluster_mask_base[Index(2, 2, 1), 0]())
    print("2 x 2 blocks, along y:", cluster_mask_base[Index(2, 2, 1), 1]())
    # ANCHOR_END: masks
