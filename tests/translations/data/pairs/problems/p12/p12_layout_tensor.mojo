# ANCHOR: dot_product_layout_tensor
def dot_product():
    # FILL ME IN (about 13 lines)
    pass


# ANCHOR_END: dot_product_layout_tensor
