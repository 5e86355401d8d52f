import Foundation

/// How often a test repeats a case that fails by chance: a few times in `make test`, many times in `make prove`.
package enum Rounds {
    package static func count(_ few: Int, prove many: Int) -> Int { areMany ? many : few }

    /// Whether `make prove` runs the tests. Such a run also prints figures for the pages.
    package static var areMany: Bool { ProcessInfo.processInfo.environment["VESTIBULE_PROVE"] == "1" }
}
