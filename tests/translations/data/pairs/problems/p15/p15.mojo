# ANCHOR: axis_sum
def axis_sum():
    # FILL ME IN (about 15 lines)
    pass


# ANCHOR_END: axis_sum
