# One image for the Hub's users, its grading service, Dask workers and Gradescope-like executors. docs/image.md has the commands.
#   docker build --target grader -t tfkit-grader .    # grades: no JupyterLab
#   docker build -t tfkit-lab .                       # the same with JupyterLab: a user's server on the Hub
ARG BUILD_IMAGE=python:3.11-slim-trixie
ARG BASE_IMAGE=python:3.11-slim-trixie

# -- the wheel, front end included --------------------------------------------------------------------------------------
FROM ${BUILD_IMAGE} AS wheel
# Debian's Node.js in whichever version is current there: it builds the front end and stays in this stage
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends nodejs \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
RUN python -m venv /opt/build
ENV PATH=/opt/build/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt ./
RUN pip install -c constraints.txt build hatchling jupyter-builder
COPY . .
RUN python -m build --wheel --no-isolation --outdir /dist

# -- what grades ----------------------------------------------------------------------------------------------------------
FROM ${BASE_IMAGE} AS grader
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 1000 --create-home --home-dir /home/jovyan --shell /bin/bash jovyan \
 && install -d -o jovyan -g jovyan /srv/course /srv/exchange
RUN python -m venv /opt/tfkit
ENV PATH=/opt/tfkit/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    OMP_NUM_THREADS=1 DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
# an nbgrader_config.py that cannot be read stops nbgrader, which would otherwise grade without the sandbox
ENV TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR=1
COPY constraints.txt /opt/tfkit/
# The index of PyTorch's CPU build, as pytorch.org's installer shows it; without it the default build, with CUDA
ARG TORCH_INDEX=
RUN pip install -c /opt/tfkit/constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch
COPY --from=wheel /dist/*.whl /opt/tfkit/wheel/
RUN pip install -c /opt/tfkit/constraints.txt "$(echo /opt/tfkit/wheel/*.whl)[grading,cluster,lti,hub,postgresql]" \
 && autograder list > /dev/null
# The exchange of users without a shared folder, as on Kubernetes. Its package asks for an old jupyter-core, which it does
# not need, so it is installed without its dependencies.
RUN pip install --no-deps ngshare-exchange==0.5.3 rapidfuzz==3.14.6
USER 1000
WORKDIR /home/jovyan
ENTRYPOINT ["tini", "--"]
CMD ["autograder", "doctor"]

# -- a user's server --------------------------------------------------------------------------------------------------------
FROM grader AS lab
USER 0
RUN pip install -c /opt/tfkit/constraints.txt "$(echo /opt/tfkit/wheel/*.whl)[lab]"
# a student's server starts whatever settings they wrote; tfkit's server extension and autograder/hub/recipe set it for instructors
ENV TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR=0
USER 1000
CMD ["jupyterhub-singleuser"]
