import Foundation
import JSONText

/// The file in which a running `vestibule up` describes itself.
struct RunFile {
    let process: pid_t
    let address: String
    let value: JSONValue

    /// `nil` if no `vestibule up` uses the folder now.
    init?(_ state: StateFolder) {
        guard let data = FileManager.default.contents(atPath: state.runFile),
            let value = try? JSONValue.parse([UInt8](data)),
            let process = value["pid"]?.integerValue, let address = value["http"]?.stringValue,
            state.isInUse
        else { return nil }
        (self.process, self.address, self.value) = (pid_t(process), address, value)
    }

    var table: String {
        let rows = (value["processes"]?.arrayValue ?? []).map { entry in
            [
                entry["name"]?.stringValue ?? "", "\(entry["pid"]?.integerValue ?? 0)",
                "\(entry["restarts"]?.integerValue ?? 0)",
            ]
        }
        return ([["process", "pid", "restarts"]] + rows).map { row in
            row[0].padding(toLength: 18, withPad: " ", startingAt: 0)
                + row[1].padding(toLength: 10, withPad: " ", startingAt: 0)
                + row[2]
        }.joined(separator: "\n")
    }
}
