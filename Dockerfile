# weir as an image: docker build -t weir . && docker run --rm -v "$PWD:/work" weir run scenario.yaml
# The build needs Rust and a C compiler (the linker); the program needs the C library alone.
FROM rust:1-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev git \
    && tools/dist /dist \
    && mv /dist/weir-*/ /install

FROM debian:bookworm-slim
COPY --from=build /install /usr/local
# Where the user's files are: `-v "$PWD:/work"`.
WORKDIR /work
ENTRYPOINT ["weir"]
CMD ["--help"]
