# ANCHOR: comptime
comptime SIZE = 6
comptime TPB = 4
comptime BLOCKS = (SIZE + TPB - 1) // TPB
# ANCHOR_END: comptime


# ANCHOR: repeat
def repeat[count: Int](text: String):
    comptime for i in range(count):
        print(i, text)


# ANCHOR_END: repeat


def main():
    # ANCHOR: call
    print("blocks:", BLOCKS)
    repeat[2]("hello")
    # ANCHOR_END: call
