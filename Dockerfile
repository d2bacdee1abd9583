# weir as an image: docker build -t weir . && docker run --rm -v "$PWD:/work" weir run scenario.yaml
# The build needs Rust and a C compiler (the linker); the program needs the C library alone.
FROM debian:trixie-slim AS build
WORKDIR /source
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates gcc git libc6-dev rustup \
    && rustup toolchain install --profile minimal stable
COPY . .
RUN tools/dist /dist && mv /dist/weir-*/ /install

FROM debian:trixie-slim
COPY --from=build /install /usr/local
# Where the user's files are: `-v "$PWD:/work"`.
WORKDIR /work
ENTRYPOINT ["weir"]
CMD ["--help"]
