/// A problem that keeps a plan from being used.
struct PlanProblem: Sendable, Hashable, CustomStringConvertible {
    /// A word such as `unknown_field`.
    var code: String
    /// JSON Pointer (RFC 6901) into the file.
    var pointer: String
    var message: String

    var description: String { "\(pointer): \(message) (\(code))" }
}

/// All problems of a plan.
struct PlanError: Error, Sendable, CustomStringConvertible {
    var problems: [PlanProblem]

    init(_ problems: [PlanProblem]) { self.problems = problems }

    init(_ code: String, _ pointer: String, _ message: String) {
        problems = [PlanProblem(code: code, pointer: pointer, message: message)]
    }

    var description: String { problems.map(\.description).joined(separator: "\n") }
}
