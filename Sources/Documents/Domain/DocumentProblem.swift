/// A problem that keeps a document from being published, or a warning about it.
package struct DocumentProblem: Sendable, Hashable, CustomStringConvertible {
    /// The number of the broken rule, such as `E01`; or `malformed`.
    package var code: String
    /// JSON Pointer (RFC 6901) into the document.
    package var pointer: String
    /// One sentence for the author.
    package var message: String
    /// The keys of the parts and strings that the problem is about.
    package var keys: [String]

    /// Takes the members.
    package init(code: String, pointer: String, message: String, keys: [String] = []) {
        (self.code, self.pointer, self.message, self.keys) = (code, pointer, message, keys)
    }

    package var description: String { "\(pointer): \(message) (\(code))" }
}

/// All problems of a document.
package struct DocumentError: Error, Sendable, CustomStringConvertible {
    /// At least one.
    package var problems: [DocumentProblem]

    /// Takes the problems.
    package init(problems: [DocumentProblem]) { self.problems = problems }

    /// Takes the members of the only problem.
    package init(_ code: String, _ pointer: String, _ message: String) {
        problems = [DocumentProblem(code: code, pointer: pointer, message: message)]
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// The result of checking a document.
package struct DocumentReport: Sendable, Equatable {
    /// The problems that keep it from being published.
    package var problems: [DocumentProblem]
    /// Possible mistakes. They do not keep it from being published.
    package var warnings: [DocumentProblem]

    /// Takes the problems and the warnings.
    package init(problems: [DocumentProblem] = [], warnings: [DocumentProblem] = []) {
        (self.problems, self.warnings) = (problems, warnings)
    }

    /// Takes the problems that a check throws.
    package init(of check: () throws(DocumentError) -> Void) {
        do throws(DocumentError) {
            try check()
            self.init()
        } catch {
            self.init(problems: error.problems)
        }
    }
}

/// Collects the problems of a document.
package protocol ProblemCollector {
    /// Adds a problem.
    mutating func refuse(_ problem: DocumentProblem)
}

extension ProblemCollector {
    /// Adds a problem.
    ///
    /// - Parameters:
    ///   - code: the code of the broken rule.
    ///   - pointer: JSON Pointer into the document.
    ///   - message: one sentence for the author.
    ///   - keys: the keys of the parts that the problem is about.
    package mutating func refuse(_ code: String, _ pointer: String, _ message: String, keys: [String] = []) {
        refuse(DocumentProblem(code: code, pointer: pointer, message: message, keys: keys))
    }
}
