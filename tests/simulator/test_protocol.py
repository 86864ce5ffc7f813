"""The protocol of stand-in driver and simulator: both descriptions agree, bad requests end the connection."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.machine import needs_simulated_gpu
from tests.simulator.driver_lab import NO_LIBRARIES, Client, connect
from tests.simulator.helpers import RecordOnly, encode_request
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    MAX_PAYLOAD,
    MOJO_TABLE,
    REQUEST_HEADER,
    REQUESTS,
    VERSION,
    Opcode,
    ProtocolError,
    decode_request,
    mojo_table,
)
from tooling.simulator.server.session import Simulation

pytestmark = needs_simulated_gpu  # its server and its arena are Linux's


def simulation() -> Simulation:
    return Simulation(libraries=NO_LIBRARIES, executor=RecordOnly())


def test_the_mojo_table_is_the_one_written_from_the_protocol() -> None:
    assert MOJO_TABLE.read_text(encoding="utf-8") == mojo_table(), (
        "run `python -m tooling.simulator.server.protocol`"
    )


def test_every_request_has_a_shape() -> None:
    assert set(REQUESTS) == set(Opcode)


@pytest.mark.parametrize("opcode", Opcode)
def test_a_request_survives_the_way(opcode: Opcode) -> None:
    shape = REQUESTS[opcode].request
    fields = shape.unpack(bytes(range(shape.size)))
    data = encode_request(opcode, *fields)
    number, length = REQUEST_HEADER.unpack_from(data)
    request = decode_request(number, data[REQUEST_HEADER.size :])
    assert (request.opcode, request.fields, length) == (opcode, fields, shape.size)


@pytest.mark.parametrize("opcode", [opcode for opcode in Opcode if REQUESTS[opcode].request.size])
def test_too_short_a_request_is_refused(opcode: Opcode) -> None:
    with pytest.raises(ProtocolError, match=opcode.name):
        decode_request(opcode, bytes(REQUESTS[opcode].request.size - 1))


def test_too_long_a_request_is_refused() -> None:
    with pytest.raises(ProtocolError, match="READ takes 16 bytes, not 17"):
        decode_request(Opcode.READ, bytes(17))


def test_an_unknown_request_is_refused() -> None:
    with pytest.raises(ProtocolError, match="unknown request 99"):
        decode_request(99, b"")


@pytest.mark.parametrize(
    "nonsense",
    [
        pytest.param(encode_request(Opcode.SYNCHRONISE), id="not-introduced"),
        pytest.param(encode_request(Opcode.HELLO, 1, VERSION, 1, ARENA_BASE), id="wrong-magic"),
        pytest.param(encode_request(Opcode.HELLO, MAGIC, VERSION, 1, 12345), id="arena-at-no-page"),
        pytest.param(encode_request(Opcode.HELLO, MAGIC, VERSION, 1, 2**64 - 4096), id="arena-beyond-memory"),
        pytest.param(encode_request(Opcode.HELLO, MAGIC, VERSION, 1, ARENA_BASE) * 2, id="two-hellos"),
        pytest.param(REQUEST_HEADER.pack(Opcode.HELLO, MAX_PAYLOAD + 1), id="oversized"),
        pytest.param(REQUEST_HEADER.pack(77, 0), id="unknown"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="another-protocol"),
    ],
)
def test_nonsense_is_hung_up_on_and_others_are_still_served(nonsense: bytes) -> None:
    with simulation() as gpu:
        client = Client(gpu)
        client.socket.sendall(nonsense)
        if nonsense.startswith(encode_request(Opcode.HELLO, MAGIC, VERSION, 1, ARENA_BASE)):
            client.reply()
        assert client.hung_up()
        assert Client(gpu).hello().ask(Opcode.SYNCHRONISE)[0] == 0


def test_another_version_gets_ours() -> None:
    with simulation() as gpu:
        client = Client(gpu)
        status, answer, _ = client.ask(Opcode.HELLO, MAGIC, VERSION + 1, os.getpid(), ARENA_BASE)
        assert status != 0
        assert struct.unpack_from("<I", answer) == (VERSION,)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(Opcode), st.binary(max_size=80)) | st.binary(min_size=1, max_size=40),
        max_size=6,
    )
)
def test_no_bytes_bring_the_simulator_down(messages: list[tuple[Opcode, bytes] | bytes]) -> None:
    with simulation() as gpu:
        client = Client(gpu).hello()
        try:
            for message in messages:
                if isinstance(message, bytes):
                    client.socket.sendall(message)
                else:
                    client.socket.sendall(REQUEST_HEADER.pack(message[0], len(message[1])) + message[1])
            client.socket.shutdown(1)
            while client.socket.recv(1 << 16):
                pass
        except OSError:
            pass  # it hung up
        assert Client(gpu).hello().ask(Opcode.SYNCHRONISE)[0] == 0


def test_a_request_cut_short_ends_that_program_only() -> None:
    with simulation() as gpu:
        cut = connect(gpu)
        cut.sendall(encode_request(Opcode.HELLO, MAGIC, VERSION, 1, ARENA_BASE)[:-3])
        cut.close()
        assert Client(gpu).hello().ask(Opcode.SYNCHRONISE)[0] == 0
