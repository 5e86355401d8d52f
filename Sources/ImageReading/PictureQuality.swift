/// The problems that make a picture useless. A person can do something about each.
package enum QualityProblem: String, Sendable, Hashable, CaseIterable {
    /// It has too few pixels.
    case tooSmall = "too_small"
    /// Too much is dark.
    case tooDark = "too_dark"
    /// Too much is white.
    case tooBright = "too_bright"
    /// It has no small details: it is out of focus, or the person or the camera moved.
    case blurred
}

/// The measures from which on a picture is good enough.
package struct QualityThresholds: Sendable, Hashable {
    /// The fewest pixels of the shorter side.
    package var shortSide: Int
    /// The allowed mean luma, 0 to 255.
    package var brightness: ClosedRange<Double>
    /// The largest share that may be black: 0 to 1.
    package var darkShare: Double
    /// The largest share that may be white: 0 to 1. A person may stand before a white wall.
    package var lightShare: Double
    /// The least ``ImageReport/sharpness``.
    package var sharpness: Double

    /// Takes all thresholds.
    package init(
        shortSide: Int = 480, brightness: ClosedRange<Double> = 40...225, darkShare: Double = 0.6,
        lightShare: Double = 0.7, sharpness: Double = 0.2
    ) {
        (self.shortSide, self.brightness) = (shortSide, brightness)
        (self.darkShare, self.lightShare, self.sharpness) = (darkShare, lightShare, sharpness)
    }

    /// The thresholds of [docs/verification.md](../../docs/verification.md).
    package static let standard = QualityThresholds()
}

extension ImageReport {
    /// The problems of the picture; empty if it is good enough.
    package func problems(_ thresholds: QualityThresholds = .standard) -> [QualityProblem] {
        var problems: [QualityProblem] = []
        if min(width, height) < thresholds.shortSide { problems.append(.tooSmall) }
        if brightness < thresholds.brightness.lowerBound || darkShare > thresholds.darkShare {
            problems.append(.tooDark)
        }
        if brightness > thresholds.brightness.upperBound || lightShare > thresholds.lightShare {
            problems.append(.tooBright)
        }
        if sharpness < thresholds.sharpness { problems.append(.blurred) }
        return problems
    }
}
