"""ONES tasks: the models and data sets of ONES, with speeds and numbers of samples.

Table 2 of the paper lists 50 tasks by model, data set and data set size. It does not state speeds or training
times, so everything else here is gsopt's own:

- The duration of a step is `gsopt.performance.batching.StepTime` on a V100. ResNet-50 and BERT are fitted to
  the epoch times that Zeus published for several batch sizes on one V100 (NSDI 2023). ResNet-18 is fitted to
  Gavel's throughput on one V100 (OSDI 2020). VGG-16 and Inception v3 on ImageNet are fitted to ElasticFlow's
  throughput on one A100 (ASPLOS 2023); their seconds per sample are multiplied by 1.33, the ratio of the times
  of ResNet-50 on V100 and A100. AlexNet and the CIFAR-10 versions of VGG-16 and GoogLeNet were not measured.
  They have the fixed part of similar models, and seconds per sample in proportion to multiply-adds per image.
- Gradients have four bytes for each parameter of the published architectures.
- The four GPUs of a server reduce gradients on a ring of 40 GB/s, and GPUs on several servers on a ring of 10
  GB/s, four fifths of EDR InfiniBand. Communication does not overlap with computation.
- A larger batch needs more samples: the number of samples is proportional to ``1 + B / critical`` for a batch
  of B. This fits the numbers of iterations that Sia published for several batch sizes of CIFAR-10, ImageNet
  and BERT within 3 %. Sia's numbers come from training runs in which the learning rate is scaled with the batch
  size, as in ONES.
"""

from functools import cache
from typing import NamedTuple

from gsopt.performance.batching import StepTime
from gsopt.performance.communication.wire import Wire, Wiring

#: Number of GPUs of a server in the paper's testbed.
SERVER = 4

_INSIDE = Wire(bandwidth=4e10, latency=1e-5, wiring=Wiring.RING)
_ACROSS = Wire(bandwidth=1e10, latency=2e-5, wiring=Wiring.RING)


class TrainedModel(NamedTuple):
    """A model with a data set: its speed on V100 GPUs, and the training that it needs at each batch size.

    Attributes
    ----------
    name
        Name of the model and its data set.
    fixed, per_sample
        Duration of a step in seconds, without communication: a fixed part, and a part per local sample.
    parameters
        Number of parameters.
    local
        Number of samples in the largest local batch.
    critical
        Batch size that needs twice as many samples as very small batches.
    epochs
        Range of the number of epochs until the target accuracy, with the largest batch of one GPU.
    accuracy
        Validation accuracy at the target.
    """

    name: str
    fixed: float
    per_sample: float
    parameters: float
    local: int
    critical: float
    epochs: tuple[int, int]
    accuracy: float

    def seconds(self, batch_size: int, gpus: int) -> float:
        """Return the duration of a step in seconds, with GPUs on as few servers as possible."""
        return _seconds(self, batch_size, gpus)

    def throughput(self, batch_size: int, gpus: int) -> float:
        """Return the number of samples per second, with GPUs on as few servers as possible."""
        return batch_size / self.seconds(batch_size, gpus)

    def penalty(self, batch_size: int) -> float:
        """Return how many samples training needs at a batch size, relative to the largest batch of one GPU."""
        return (1 + batch_size / self.critical) / (1 + self.local / self.critical)


@cache
def _seconds(model: TrainedModel, batch_size: int, gpus: int) -> float:
    wire = _INSIDE if gpus <= SERVER else _ACROSS
    message = 4 * model.parameters
    step = StepTime(fixed=model.fixed, per_sample=model.per_sample, message=message, wire=wire)
    return float(step.seconds(batch_size, gpus))


_IMAGENET, _CIFAR10, _GLUE = 20_600.0, 6_000.0, 9_400.0

_ALEXNET = TrainedModel("imagenet-alexnet", 0.015, 0.0005, 61.1e6, 256, _IMAGENET, (20, 40), 0.7)
_RESNET50 = TrainedModel("imagenet-resnet50", 0.015, 0.0027, 25.6e6, 128, _IMAGENET, (20, 40), 0.8)
_VGG16 = TrainedModel("imagenet-vgg16", 0.013, 0.0039, 138.4e6, 64, _IMAGENET, (20, 40), 0.75)
_INCEPTION = TrainedModel("imagenet-inceptionv3", 0.033, 0.0038, 23.8e6, 64, _IMAGENET, (20, 40), 0.8)
_RESNET18 = TrainedModel("cifar10-resnet18", 0.026, 0.00028, 11.2e6, 256, _CIFAR10, (15, 35), 0.9)
_VGG16_SMALL = TrainedModel("cifar10-vgg16", 0.026, 0.00016, 15.0e6, 256, _CIFAR10, (15, 35), 0.88)
_GOOGLENET = TrainedModel("cifar10-googlenet", 0.026, 0.00076, 6.2e6, 256, _CIFAR10, (15, 35), 0.9)
_BERT = TrainedModel("bert", 0.018, 0.0023, 110e6, 32, _GLUE, (3, 7), 0.85)


class TableTask(NamedTuple):
    """A task of ONES: a row of Table 2 with one of its data set sizes.

    Attributes
    ----------
    name
        Data set, model and size.
    model
        The model that is trained.
    samples
        Number of samples in the data set.
    classes
        Number of classes in the data set.
    """

    name: str
    model: TrainedModel
    samples: int
    classes: int


def _tasks() -> tuple[TableTask, ...]:
    found = [
        TableTask(f"{model.name}-{size}k", model, 1000 * size, size)
        for model in (_ALEXNET, _RESNET50, _VGG16, _INCEPTION)
        for size in (10, 12, 14, 16, 18, 20)
    ]
    found += [
        TableTask(f"{model.name}-{size}k", model, 1000 * size, 10)
        for model in (_RESNET18, _VGG16_SMALL, _GOOGLENET)
        for size in (20, 25, 30, 35, 40)
    ]
    glue = [("cola", (5, 6, 7, 8)), ("mrpc", (3.6,)), ("sst2", (10, 12, 14, 16, 18, 20))]
    found += [
        TableTask(f"{name}-bert-{k:g}k", _BERT, round(1000 * k), 2) for name, sizes in glue for k in sizes
    ]
    return tuple(found)


#: The 50 tasks of Table 2.
TASKS = _tasks()
