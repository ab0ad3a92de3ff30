"""What the words of a command and the variables of an environment say of the GPU, and which word names the program."""

from __future__ import annotations

import shlex

import pytest

from gpulint.facts.commands import (
    cpu_argument,
    cpu_variable,
    fetches_sources,
    gpu_argument,
    gpu_program,
    gpu_variable,
    hides_gpu,
    launched,
    loader_workers,
    model_server,
    parallel_processes,
    plain_tool,
    process_count,
    program_index,
    program_name,
    shares_between_gpus,
    sharing_server,
    simple_commands,
    spreads_over_nodes,
)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python train.py", "python"),
        ("sudo -u app env A=1 B=2 python train.py", "python"),
        ("exec /usr/bin/python3.11 train.py", "/usr/bin/python3.11"),
        ("timeout -k 5 60 ./run.sh", "./run.sh"),
        ("uv run --with rich python train.py", "python"),
        ("poetry run serve", "serve"),
        ("conda run -n work python train.py", "python"),
        ("nice -n 10 nohup train", "train"),
        ("CUDA_VISIBLE_DEVICES=0 python train.py", "python"),
        ("xvfb-run -s '-screen 0 800x600x24' blender", "blender"),
        ("command -v nvidia-smi", "command"),
    ],
)
def test_the_program_behind_wrappers(command: str, program: str) -> None:
    words = shlex.split(command)
    assert words[program_index(words)] == program


@pytest.mark.parametrize("command", ["", "sudo", "env A=1", "timeout 5"])
def test_wrappers_alone_have_no_program(command: str) -> None:
    words = shlex.split(command)
    assert program_index(words) == len(words)
    assert plain_tool(words) == ""
    assert launched(words) is None
    assert gpu_argument(words) is None


@pytest.mark.parametrize(
    ("word", "name"),
    [("/opt/venv/bin/python3.11", "python"), ("pip3", "pip"), ("/bin/bash", "sh"), ("mpirun.openmpi", "mpirun"), ("train", "train")],
)
def test_program_names(word: str, name: str) -> None:
    assert program_name(word) == name


@pytest.mark.parametrize(
    ("command", "form", "word"),
    [
        ("python train.py --epochs 3", "script", "train.py"),
        ("python -u -X dev train.py", "script", "train.py"),
        ("python3 -m pkg.train", "module", "pkg.train"),
        ("python -c 'print(1)'", "code", "print(1)"),
        ("torchrun --nproc_per_node 4 --standalone train.py", "script", "train.py"),
        ("torchrun --nproc-per-node=4 -m pkg.train", "module", "pkg.train"),
        ("torchrun -m --nproc-per-node 4 pkg.train", "module", "pkg.train"),
        ("python -u -m torch.distributed.run --nproc_per_node 2 train.py", "script", "train.py"),
        ("python -m torch.distributed.launch --use_env train.py", "script", "train.py"),
        ("accelerate launch --config_file acc.yaml --multi_gpu train.py", "script", "train.py"),
        ("deepspeed --num_gpus 2 train.py --deepspeed ds.json", "script", "train.py"),
        ("mpirun -np 4 --mca pml ob1 -x PATH python train.py", "command", "python"),
        ("uvicorn app.main:app --host 0.0.0.0", "app", "app.main:app"),
        ("gunicorn -w 2 --preload app:create", "app", "app:create"),
        ("celery -A tasks worker", "app", "tasks"),
        ("sh -c 'python train.py'", "shell-code", "python train.py"),
        ("bash -euo pipefail -c 'python train.py'", "shell-code", "python train.py"),
        ("bash -lc 'python train.py'", "shell-code", "python train.py"),
        ("bash start.sh", "shell-script", "start.sh"),
        ("streamlit run app.py", "script", "app.py"),
    ],
)
def test_what_a_launcher_starts(command: str, form: str, word: str) -> None:
    words = shlex.split(command)
    launch = launched(words)
    assert launch and (launch.form, words[launch.at]) == (form, word)


@pytest.mark.parametrize("command", ["./train --gpu 0", "nvidia-smi", "python", "bash", "torchrun --standalone", "python -m"])
def test_commands_that_launch_nothing(command: str) -> None:
    assert launched(shlex.split(command)) is None


@pytest.mark.parametrize(
    ("command", "parallel"), [("torchrun train.py", True), ("mpirun -np 2 a", True), ("python train.py", False), ("uvicorn a:b", False)]
)
def test_parallel_launchers(command: str, parallel: bool) -> None:
    launch = launched(shlex.split(command))
    assert launch and launch.parallel is parallel


@pytest.mark.parametrize(
    "command",
    [
        "chown -R app /data",
        "cp -r /models /mnt",
        "sleep infinity",
        "pip install -r requirements.txt",
        "/opt/venv/bin/pip3 download torch",
        "python -m pip install torch",
        "uv pip install torch",
        "uv run alembic upgrade head",
        "alembic upgrade head",
        "huggingface-cli download org/model",
        "hf download org/model",
        "aws s3 cp s3://bucket/a .",
        "ollama pull llama3",
        "nvcc --version",
        "train.py --help",
        "vllm --version",
        "pytest -m 'not gpu'",
        "pytest -m 'not (gpu or slow)' tests",
        "python -c 'import torch'",
        "python -c 'import torch; print(torch.__version__)'",
        "sh -c 'cp a b && sleep 1'",
        "bash -c 'if [ -f a ]; then rm a; fi'",
        "bash -c 'for f in *; do gzip \"$f\"; done'",
        "sudo chown app /x",
    ],
)
def test_plain_tools(command: str) -> None:
    assert plain_tool(shlex.split(command))


@pytest.mark.parametrize(
    "command",
    [
        "python train.py",
        "python -m pkg.train",
        "bash",
        "bash start.sh",
        "sh -c 'cp a b && python train.py'",
        "sh -c 'exec \"$@\"'",
        "python -c 'import torch; torch.zeros(1).cuda()'",
        "python -c 'import torch; print(torch.cuda.is_available())'",
        "uv run train",
        "ollama serve",
        "vllm serve org/model",
        "pytest tests",
        "pytest -m gpu",
        "nvidia-smi",
        "jupyter lab",
        "copy-models",
    ],
)
def test_commands_that_run_more_than_a_plain_tool(command: str) -> None:
    assert plain_tool(shlex.split(command)) == ""


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("serve --device cuda", "cuda"),
        ("serve --device=cuda:0", "--device=cuda:0"),
        ("serve -d cuda", "cuda"),
        ("serve --accelerator gpu", "gpu"),
        ("serve --gpu 0", "--gpu"),
        ("serve --gpu", "--gpu"),
        ("serve --gpus 2", "--gpus"),
        ("serve --gpus -1", "--gpus"),
        ("serve --gpus 0,1", "--gpus"),
        ("accelerate launch --multi_gpu train.py", "--multi_gpu"),
        ("serve --n-gpu-layers 35", "--n-gpu-layers"),
        ("serve -ngl 99", "-ngl"),
        ("serve --use_cuda", "--use_cuda"),
        ("serve --use-gpu true", "--use-gpu"),
        ("serve --use-gpu input.txt", "--use-gpu"),
        ("serve --gpu-memory-utilization 0.9", "--gpu-memory-utilization"),
        ("train device=cuda", "device=cuda"),
        ("train trainer.accelerator=gpu", "trainer.accelerator=gpu"),
        ("env USE_GPU=1 train", "USE_GPU=1"),
        ("train --provider CUDAExecutionProvider", "CUDAExecutionProvider"),
        ("bash -c 'python launch.py --gpu 0'", "python launch.py --gpu 0"),
        ("serve --no-cuda=false", "--no-cuda=false"),
    ],
)
def test_arguments_that_turn_the_gpu_on(command: str, word: str) -> None:
    words = shlex.split(command)
    at = gpu_argument(words)
    assert at is not None and words[at] == word


@pytest.mark.parametrize(
    "command",
    [
        "serve",
        "serve --device cpu",
        "serve --gpus 0",
        "serve --n-gpu-layers 0",
        "serve --no-gpu",
        "serve --no-cuda",
        "serve --disable-gpu",
        "serve --gpu -1",
        "serve --gpu none",
        "serve --gpu auto",
        "serve --use-gpu false",
        "serve --use-gpu=auto",
        "serve --gpus $COUNT",
        "serve --gpu $INDEX",
        "serve --gpu=${INDEX}",
        "serve --cuda-version 12.4",
        "serve --cuda 12.4",
        "serve --accuracy",
        "celery -A app worker -Q gpu",
        "serve --name gpu --label cuda",
        "python gpu.py",
        "pip install torch --index-url https://download.pytorch.org/whl/cu124",
        "serve --image app:cuda",
    ],
)
def test_arguments_that_do_not_turn_the_gpu_on(command: str) -> None:
    assert gpu_argument(shlex.split(command)) is None


@pytest.mark.parametrize(
    "command",
    [
        "serve --device cpu",
        "serve --cpu",
        "serve --no-cuda",
        "serve --no-gpu",
        "serve --gpus 0",
        "serve -ngl 0",
        "serve --use-gpu=false",
        "train device=cpu",
        "train --backend gloo",
        "serve --gpu -1",
    ],
)
def test_arguments_that_say_cpu(command: str) -> None:
    assert cpu_argument(shlex.split(command)) is not None


@pytest.mark.parametrize(
    "command", ["serve", "serve --device cuda", "serve --cpus 4", "serve --cpu 4", "serve --cpu-offload-gb 2", "serve --gpu 0"]
)
def test_arguments_that_do_not_say_cpu(command: str) -> None:
    assert cpu_argument(shlex.split(command)) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENABLE_GPU", "true"),
        ("USE_CUDA", "1"),
        ("GPU_ENABLED", "yes"),
        ("DEVICE", "cuda"),
        ("DEVICE", "gpu"),
        ("ASR_DEVICE", "cuda:0"),
        ("DEVICE_NAME", "cuda"),
        ("ANYTHING", "cuda:1"),
        ("CUDA_VISIBLE_DEVICES", "0"),
        ("CUDA_VISIBLE_DEVICES", "0,1"),
        ("CUDA_VISIBLE_DEVICES", "all"),
        ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
        ("N_GPU_LAYERS", "35"),
        ("OLLAMA_NUM_GPU", "1"),
        ("JAX_PLATFORMS", "cuda,cpu"),
        ("GPU_ID", "0"),
    ],
)
def test_variables_that_turn_the_gpu_on(name: str, value: str) -> None:
    assert gpu_variable(name, value)
    assert not cpu_variable(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENABLE_GPU", "false"),
        ("ENABLE_GPU", "auto"),
        ("ENABLE_GPU", ""),
        ("DEVICE", "cpu"),
        ("DEVICE", "auto"),
        ("CUDA_VISIBLE_DEVICES", ""),
        ("CUDA_VISIBLE_DEVICES", "-1"),
        ("NVIDIA_VISIBLE_DEVICES", "all"),
        ("NVIDIA_DRIVER_CAPABILITIES", ""),
        ("NVIDIA_REQUIRE_CUDA", "cuda>=12.0"),
        ("CUDA_VERSION", "12.4"),
        ("CUDA_HOME", "/usr/local/cuda"),
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
        ("TORCH_CUDA_ARCH_LIST", "8.6"),
        ("N_GPU_LAYERS", "0"),
        ("IMAGE_TAG", "cuda"),
        ("QUEUE", "gpu"),
        ("ROLE", "gpu"),
        ("NODE", "gpu"),
        ("GREETING", "hello"),
    ],
)
def test_variables_that_do_not_turn_the_gpu_on(name: str, value: str) -> None:
    assert not gpu_variable(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CUDA_VISIBLE_DEVICES", ""),
        ("CUDA_VISIBLE_DEVICES", "-1"),
        ("NVIDIA_VISIBLE_DEVICES", "void"),
        ("NVIDIA_VISIBLE_DEVICES", "none"),
        ("JAX_PLATFORMS", "cpu"),
    ],
)
def test_variables_that_hide_the_gpu(name: str, value: str) -> None:
    assert hides_gpu(name, value)
    assert cpu_variable(name, value)


@pytest.mark.parametrize(
    ("name", "value"), [("CUDA_VISIBLE_DEVICES", "0"), ("NVIDIA_VISIBLE_DEVICES", "all"), ("DEVICE", "cpu"), ("HOME", "")]
)
def test_variables_that_hide_nothing(name: str, value: str) -> None:
    assert not hides_gpu(name, value)


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        ("nvidia-smi -L", True),
        ("sh -c 'nvidia-smi && sleep 1'", True),
        ("/usr/bin/nvidia-smi", True),
        ("echo nvidia-smi", False),
        ("python smi.py", False),
    ],
)
def test_gpu_programs(command: str, is_one: bool) -> None:
    assert gpu_program(shlex.split(command)) is is_one


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        ("vllm serve org/model", True),
        ("python -m vllm.entrypoints.openai.api_server --model m", True),
        ("text-generation-launcher --model-id m", True),
        ("tritonserver --model-repository /m", True),
        ("python -m vllm_client", False),
        ("uvicorn app:app", False),
    ],
)
def test_model_servers(command: str, is_one: bool) -> None:
    assert model_server(shlex.split(command)) is is_one


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("torchrun --nproc_per_node 4 t.py", "4"),
        ("vllm serve m --tensor-parallel-size=2", "2"),
        ("accelerate launch --num_processes 8 t.py", "8"),
        ("python t.py", None),
    ],
)
def test_how_many_gpus_a_program_spreads_over(command: str, value: str | None) -> None:
    option = parallel_processes(shlex.split(command))
    assert (option.value if option else None) == value


def test_loader_workers() -> None:
    option = loader_workers(shlex.split("python t.py --num-workers 8"))
    assert option and option.value == "8"
    assert loader_workers(shlex.split("gunicorn --workers 8 app:app")) is None


def test_simple_commands_of_a_script() -> None:
    script = "set -e; if test -f a; then cp a 'b c'; fi\nfor f in *; do gzip $f; done && python train.py | tee log"
    assert list(simple_commands(script)) == [
        ["set", "-e"],
        ["test", "-f", "a"],
        ["cp", "a", "b c"],
        ["gzip", "$f"],
        ["python", "train.py"],
        ["tee", "log"],
    ]


@pytest.mark.parametrize("script", ["'", '"', "\\", "((((", "sh -c " * 500, "a" * 100_000, "$(", "{}"])
def test_any_script_is_read_without_harm(script: str) -> None:
    list(simple_commands(script))
    plain_tool(["sh", "-c", script])
    gpu_argument(["sh", "-c", script])


@pytest.mark.parametrize(
    ("command", "fetches"),
    [
        ("git clone --depth 1 https://git.acme.example/a.git", True),
        ("sudo git -q clone https://git.acme.example/a.git", True),
        ("svn co https://svn.acme.example/a", True),
        ("git status", False),
        ("pip install a", False),
        ("", False),
    ],
)
def test_what_fetches_sources(command: str, fetches: bool) -> None:
    assert fetches_sources(shlex.split(command)) is fetches


@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("mpirun --allow-run-as-root -np 4 python train.py", "4"),
        ("deepspeed --num_gpus 2 train.py", "2"),
        ("torchrun --nproc-per-node=8 train.py", "8"),
        ("python -np 4", None),
    ],
)
def test_how_many_processes_a_launcher_starts(command: str, count: str | None) -> None:
    option = process_count(shlex.split(command))

    assert (option.value if option else None) == count


@pytest.mark.parametrize(
    ("command", "spreads"),
    [
        ("torchrun --nnodes=2 --nproc-per-node 8 train.py", True),
        ("torchrun --nnodes $NODES --nproc-per-node 8 train.py", True),
        ("torchrun --nnodes 1 --node-rank 0 train.py", True),
        ("mpirun --hostfile hosts -np 8 train", True),
        ("vllm serve m --distributed-executor-backend ray", True),
        ("vllm serve m --distributed-executor-backend mp", False),
        ("torchrun --standalone --nnodes 1 --nproc-per-node 8 train.py", False),
    ],
)
def test_what_spreads_over_nodes(command: str, spreads: bool) -> None:
    assert spreads_over_nodes(command.split()) is spreads


def test_a_strategy_and_a_server_that_share_between_gpus() -> None:
    option = shares_between_gpus(shlex.split("python train.py --strategy=DDP"))

    assert option is not None and option.value == "DDP"
    assert sharing_server(shlex.split("python -m vllm.entrypoints.openai.api_server --model m"))
    assert not sharing_server(["llama-server"])
