"""The models again, written from their papers as plainly as can be: square windows, loops, root finding."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.signal import convolve2d
from scipy.special import gamma
from sklearn.metrics.pairwise import rbf_kernel


def square_window(length, sigma):
    rows, columns = np.mgrid[:length, :length] - length // 2
    weights = np.exp(-(rows**2 + columns**2) / (2 * sigma**2))
    return weights / weights.sum()


def contrast_and_structure(x, y):
    window = square_window(11, 1.5)
    mean_x, mean_y = (convolve2d(image, window, "valid") for image in (x, y))
    var_x = convolve2d(x * x, window, "valid") - mean_x**2
    var_y = convolve2d(y * y, window, "valid") - mean_y**2
    both = convolve2d(x * y, window, "valid") - mean_x * mean_y
    luminance = (2 * mean_x * mean_y + 6.5025) / (mean_x**2 + mean_y**2 + 6.5025)
    return luminance, (2 * both + 58.5225) / (var_x + var_y + 58.5225)


def ms_ssim(x, y):
    product = 1.0
    for scale, weight in enumerate([0.0448, 0.2856, 0.3001, 0.2363, 0.1333]):
        luminance, rest = contrast_and_structure(x, y)
        product *= (luminance * rest if scale == 4 else rest).mean() ** weight
        x, y = block_means(x), block_means(y)
    return product


def block_means(image):
    rows, columns = (range(0, length, 2) for length in image.shape)
    return np.array([[image[row : row + 2, column : column + 2].mean() for column in columns] for row in rows])


def shape_of(ratio):
    """Shape of the generalised Gaussian with this E|x|² / E x², kept within the published table."""

    def excess(shape):
        return gamma(2 / shape) ** 2 / gamma(1 / shape) / gamma(3 / shape) - ratio

    if excess(0.2) > 0:
        return 0.2
    return 10.0 if excess(10) < 0 else brentq(excess, 0.2, 10)


def asymmetric(values):
    left = np.sqrt(np.mean(values[values < 0] ** 2))
    right = np.sqrt(np.mean(values[values > 0] ** 2))
    skew = left / right
    ratio = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    shape = shape_of(ratio * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2)
    spread = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
    return shape, (right - left) * spread * gamma(2 / shape) / gamma(1 / shape), left, right


def normalised(image):
    window = square_window(7, 7 / 6)
    mean = convolve2d(image, window, "same")
    deviation = np.sqrt(np.abs(convolve2d(image**2, window, "same") - mean**2))
    return np.round((image - mean) / (deviation + 1), 10)


def half_size(image):
    """Cubic interpolation of twice the width by a matrix per axis, mirrored at the borders."""
    for axis in (0, 1):
        image = np.moveaxis(np.tensordot(half_matrix(image.shape[axis]), image, (1, axis)), 0, axis)
    return image


def half_matrix(length):
    matrix = np.zeros(((length + 1) // 2, length))
    for row in range(len(matrix)):
        for place in range(2 * row - 5, 2 * row + 8):
            away = abs(place - (2 * row + 0.5)) / 2
            near = 1.5 * away**3 - 2.5 * away**2 + 1
            far = -0.5 * away**3 + 2.5 * away**2 - 4 * away + 2
            mirrored = -1 - place if place < 0 else place
            mirrored = 2 * length - 1 - mirrored if mirrored >= length else mirrored
            matrix[row, mirrored] += near if away <= 1 else far if away <= 2 else 0
    return matrix / matrix.sum(axis=1, keepdims=True)


def brisque_features(image):
    features = []
    for pixels in (image, half_size(image)):
        even = normalised(pixels)
        features += [shape_of(np.mean(np.abs(even)) ** 2 / np.mean(even**2)), np.mean(even**2)]
        for shift in ((0, 1), (1, 0), (1, 1), (-1, 1)):
            shape, mean, left, right = asymmetric(even * np.roll(even, shift, axis=(0, 1)))
            features += [shape, mean, left**2, right**2]
    return np.array(features)


def regression(model, features):
    scaled = -1 + 2 * (features - model["low"]) / (model["high"] - model["low"])
    return float(rbf_kernel(scaled[None], model["vectors"], gamma=0.05)[0] @ model["weights"] - model["offset"])
