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
    /// Nobody is signed in, or not the person any more for whom the call began.
    case signedOut
    /// What is kept on the device cannot be read or written now, as while a keychain is locked. Nothing is known to be lost:
    /// try again later.
    case store(any Error)

    /// The code of a problem; `nil` for other errors.
    public var code: ProblemCode? { if case .problem(let problem) = self { problem.code } else { nil } }
}
