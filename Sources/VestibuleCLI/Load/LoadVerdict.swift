import Foundation

/// A reason why the figures of a load describe the generator more than the system.
enum GeneratorLimit: Equatable {
    /// At the quantile `share`, the generator started calls `lag` microseconds late, and calls took `measured`
    /// microseconds.
    case late(share: Double, lag: UInt64, measured: UInt64)
    /// This many calls waited for a connection of the generator.
    case noConnection(calls: Int)
    /// The generator's one thread worked for this share of the time.
    case busy(Double)

    var sentence: String {
        switch self {
        case .late(let share, let lag, let measured):
            """
            the generator started calls up to \(LoadReport.time(lag)) late, which is too much of the \
            \(LoadReport.time(measured)) at p\(LoadReport.percent(share)): lower --rate, or free a processor
            """
        case .noConnection(let calls):
            "\(calls) calls waited for a free connection of the generator: raise --connections, or lower --rate"
        case .busy(let share):
            String(format: "the generator's thread worked %.0f %% of the time: lower --rate", share * 100)
        }
    }
}

/// Decides whether a load measured the system or its own generator.
enum LoadVerdict {
    /// A lag below this does not matter, in microseconds.
    static let smallLag: UInt64 = 1_000
    /// The greatest part of a measured time that may be the generator's lag.
    static let lagPart = 0.25
    /// The greatest part of the calls that may wait for a connection.
    static let waitingPart = 0.001
    /// The greatest part of the time that the generator's thread may work.
    static let busyPart = 0.9
    /// The quantiles that a report prints.
    static let shares = [0.5, 0.9, 0.99, 0.999]

    /// - Parameters:
    ///   - lag: how late the generator started each action.
    ///   - times: how long each action took from its intended start.
    ///   - waits: the number of calls that waited for a connection.
    ///   - calls: the number of all calls.
    ///   - busy: the part of the time in which the generator's thread worked.
    /// - Returns: the flaws; empty if the run is valid.
    static func flaws(lag: LatencyHistogram, times: LatencyHistogram, waits: Int, calls: Int, busy: Double)
        -> [GeneratorLimit]
    {
        var flaws: [GeneratorLimit] = []
        for share in shares {
            let (late, measured) = (lag.quantile(share), times.quantile(share))
            guard late > smallLag, Double(late) > lagPart * Double(measured) else { continue }
            flaws.append(.late(share: share, lag: late, measured: measured))
            break
        }
        if Double(waits) > waitingPart * Double(calls) { flaws.append(.noConnection(calls: waits)) }
        if busy > busyPart { flaws.append(.busy(busy)) }
        return flaws
    }
}
