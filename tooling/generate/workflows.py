"""The GitHub workflows: CI, whose jobs come from the CI matrix, the publication of the book, and releases."""

from __future__ import annotations

from tooling.generate.matrix import LINUX

WORKFLOWS = ("ci.yml", "pages.yml", "release.yml")
UV_VERSION = "0.13.8"
"""The version that README.md, .ci/run and constraints.txt install."""
PIXI_VERSION = "v0.71.1"

ACTIONS = {
    "checkout": ("actions/checkout", "3d3c42e5aac5ba805825da76410c181273ba90b1", "v7.0.1"),
    "setup-python": ("actions/setup-python", "a309ff8b426b58ec0e2a45f0f869d46889d02405", "v6.2.0"),
    "cache": ("actions/cache", "27d5ce7f107fe9357f9df03efb73ab90386fccae", "v5.0.5"),
    "upload-artifact": ("actions/upload-artifact", "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a", "v7.0.1"),
    "download-artifact": ("actions/download-artifact", "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c", "v8.0.1"),
    "upload-pages-artifact": (
        *("actions/upload-pages-artifact", "fc324d3547104276b827a68afc52ff2a11cc49c9", "v5.0.0"),
    ),
    "deploy-pages": ("actions/deploy-pages", "cd2ce8fcbc39b97be8ca5fce6e763baed58fa128", "v5.0.0"),
    "attest-build-provenance": (
        *("actions/attest-build-provenance", "4d101475d8b20a2381f78447822ac1eab6504dd8", "v4.2.2"),
    ),
    "attest-sbom": ("actions/attest-sbom", "c604332985a26aa8cf1bdc465b92731239ec6b9e", "v4.1.0"),
    "setup-pixi": ("prefix-dev/setup-pixi", "a0af7a228712d6121d37aba47adf55c1332c9c2e", "v0.9.4"),
}
"""Repository, commit and its tag, as other public workflows pin them. A tag can be moved, a commit cannot.
Dependabot proposes newer ones in the generated files; copy its proposal to this table and generate again."""


def workflow_text(name: str) -> str:
    """One of WORKFLOWS."""
    import jinja2  # noqa: PLC0415 - a tenth of a second that only generating needs

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tooling.generate", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the output is YAML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    return environment.get_template(f"{name}.j2").render(
        machine=LINUX,
        pixi_version=PIXI_VERSION,
        action=action,
        checkout=_checkout,
        build_cache=_build_cache,
    )


def action(name: str) -> str:
    """The value of `uses:` for an action of the table, with its version as a comment."""
    repository, commit, version = ACTIONS[name]
    return f"{repository}@{commit} # {version}"


def _checkout(*, history: bool = False, python: bool = True) -> str:
    """The first steps of a job; `history` fetches all commits with their files."""
    lines = [f"- uses: {action('checkout')}"]
    if history:
        lines.append(
            "  with: { fetch-depth: 0, persist-credentials: false } # translations are judged against history"
        )
    else:
        lines.append("  with: { persist-credentials: false }")
    if python:
        lines += [f"- uses: {action('setup-python')}", '  with: { python-version: "3.12" }']
    return "\n".join("      " + line for line in lines)


def _build_cache(job: str) -> str:
    """Keeps the build cache between runs: its keys are digests of all inputs, so old entries stay valid."""
    lines = (
        f"- uses: {action('cache')}",
        "  with:",
        "    path: .cache/builds",
        f"    key: builds-{job}-${{{{ github.run_id }}}}",
        f"    restore-keys: builds-{job}-",
    )
    return "\n".join("      " + line for line in lines)
