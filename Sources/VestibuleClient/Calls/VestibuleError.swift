/// Why a call has no reply.
public enum VestibuleError: Error {
    /// The server refused the call, or failed.
    case problem(Problem)
    /// The value still has the version that `ifNoneMatch` named.
    case notModified
    /// No answer arrived: there is no network, or it took too long. The call may or may not have had its effect.
    case noAnswer(any Error)
    /// The answer is not one of Vestibule's. A proxy on the way may have sent it.
    case unreadable(status: Int, any Error)
    /// Nobody is signed in, or another person than at the start of the call.
    case signedOut
    /// The store on the device cannot be read or written now, for example while a keychain is locked. Try again later:
    /// the data may still be there.
    case store(any Error)

    /// The code of a problem; `nil` for other errors.
    public var code: ProblemCode? { if case .problem(let problem) = self { problem.code } else { nil } }
}
