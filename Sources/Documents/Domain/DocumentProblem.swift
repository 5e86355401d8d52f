/// A problem that keeps a document from being published, or a warning about it.
public struct DocumentProblem: Sendable, Hashable, CustomStringConvertible {
    /// The number of the broken rule, such as `E01`; or `malformed`.
    public var code: String
    /// JSON Pointer (RFC 6901) into the document.
    public var pointer: String
    /// One sentence for the author.
    public var message: String
    /// The keys of the parts and strings that the problem is about.
    public var keys: [String]

    /// Takes the members.
    public init(code: String, pointer: String, message: String, keys: [String] = []) {
        (self.code, self.pointer, self.message, self.keys) = (code, pointer, message, keys)
    }

    public var description: String { "\(pointer): \(message) (\(code))" }
}

/// All problems of a document.
public struct DocumentError: Error, Sendable, CustomStringConvertible {
    /// At least one.
    public var problems: [DocumentProblem]

    /// Takes the problems.
    public init(problems: [DocumentProblem]) { self.problems = problems }

    /// Takes the members of the only problem.
    public init(_ code: String, _ pointer: String, _ message: String) {
        problems = [DocumentProblem(code: code, pointer: pointer, message: message)]
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// The result of checking a document.
public struct DocumentReport: Sendable, Equatable {
    /// The problems that keep it from being published.
    public var problems: [DocumentProblem]
    /// Possible mistakes. They do not keep it from being published.
    public var warnings: [DocumentProblem]

    /// Takes what was found.
    public init(problems: [DocumentProblem] = [], warnings: [DocumentProblem] = []) {
        (self.problems, self.warnings) = (problems, warnings)
    }

    /// Takes the problems that a check throws.
    public init(of check: () throws(DocumentError) -> Void) {
        do throws(DocumentError) {
            try check()
            self.init()
        } catch {
            self.init(problems: error.problems)
        }
    }
}

/// Collects the problems of a document.
public protocol ProblemCollector {
    /// Adds a problem.
    mutating func refuse(_ problem: DocumentProblem)
}

extension ProblemCollector {
    /// Adds a problem.
    ///
    /// - Parameters:
    ///   - code: of the broken rule.
    ///   - pointer: JSON Pointer into the document.
    ///   - message: one sentence for the author.
    ///   - keys: of the parts that the problem is about.
    public mutating func refuse(_ code: String, _ pointer: String, _ message: String, keys: [String] = []) {
        refuse(DocumentProblem(code: code, pointer: pointer, message: message, keys: keys))
    }
}
