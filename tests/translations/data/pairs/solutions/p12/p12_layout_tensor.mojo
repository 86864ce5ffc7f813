# ANCHOR: dot_product_layout_tensor_solution
def dot_product():
    barrier()


# ANCHOR_END: dot_product_layout_tensor_solution
