import EventLoop

/// What becomes of a request's body when its head has come.
public enum BodyAdmission {
    /// It is read, up to so many bytes.
    case read(limit: Int)
    /// Nothing of it is read before this was asked. Where it has an answer, that is sent and the connection ends; otherwise
    /// the body is read, up to so many bytes.
    case check(@Loop () async -> HTTPResponse?, limit: Int)
}
