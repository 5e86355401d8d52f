import Foundation

/// How often a test repeats what fails by chance: a few times in `make test`, many times in `make prove`.
public enum Rounds {
    public static func count(_ few: Int, prove many: Int) -> Int {
        ProcessInfo.processInfo.environment["VESTIBULE_PROVE"] == "1" ? many : few
    }
}
