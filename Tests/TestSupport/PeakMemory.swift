import Foundation

/// The most memory that this process has had.
package enum PeakMemory {
    /// The peak since the last ``forget()``, in bytes.
    package static func read() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let size = Int(line.filter(\.isNumber))
        else { throw ScratchCluster.Failure(description: "/proc/self/status has no peak") }
        return size << 10
    }

    /// Resets the peak to the present size.
    package static func forget() throws {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else {
            throw ScratchCluster.Failure(description: "/proc/self/clear_refs cannot be written")
        }
        try file.write(contentsOf: Data("5".utf8))
    }
}
