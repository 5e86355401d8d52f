/// Why a call has no reply.
public enum VestibuleError: Error {
    /// The server refused the call, or failed.
    case problem(Problem)
    /// The value still has the version that `ifNoneMatch` named.
    case notModified
    /// No answer came: there is no network, or it took too long. Whether the call had its effect is not known.
    case noAnswer(any Error)
    /// An answer that is none of Vestibule's, as of a proxy on the way.
    case unreadable(status: Int, any Error)

    /// The code of a problem; `nil` for other errors.
    public var code: ProblemCode? { if case .problem(let problem) = self { problem.code } else { nil } }
}
