"""What every model's predictions must satisfy, checked in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL.Image import Image

from dissensus.errors import BackendError, DissensusError, PredictionError, counted, one_line
from dissensus.predictions.align import check_confidences, check_labels
from dissensus.predictions.protocol import Model, Top5, only_labels


@dataclass(frozen=True)
class Guarded:
    """A model whose predictions are checked and whose failures become one line that names it."""

    model: Model
    name: str
    classes: int

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class, its probability and the classes that come next, for each image.

        Raises:
            BackendError: the model failed.
            PredictionError: it returned something that is not a prediction for these images.
        """
        if not images:
            return only_labels(np.empty(0, np.uint16), np.empty(0, np.float32))
        try:
            labels, confidence, further = self.model.predict(images)
            self._check(labels, confidence, len(images))
        except DissensusError as error:
            raise type(error)(f"{self.name}: {error}") from error
        except MemoryError as error:
            raise BackendError(
                f"{self.name}: out of memory on {counted(len(images), 'image')}: use smaller batches"
            ) from error
        except Exception as error:
            raise BackendError(f"{self.name} failed on {counted(len(images), 'image')}: {one_line(error)}") from error
        return Top5(labels.astype(np.uint16), confidence.astype(np.float32), further)

    def _check(self, labels: np.ndarray, confidence: np.ndarray, images: int) -> None:
        if labels.shape != (images,) or confidence.shape != (images,):
            raise PredictionError(
                f"got labels of shape {labels.shape} and confidences of shape {confidence.shape} for {images} images:"
                " return one of each per image"
            )
        check_labels(labels, self.classes, range(images))
        if not np.isnan(confidence).all():
            check_confidences(confidence, range(images))
