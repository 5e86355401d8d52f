import EventLoop
import HTTPServer

/// A picture that an app sends. It uses its address up before it reads the body, and keeps what has arrived on the disk.
@Loop final class PictureHTTPUpload: HTTPUpload {
    private let head: HTTPRequestHead
    private let listener: MediaListener
    /// `nil` until the request is admitted.
    private var arrival: MediaListener.Arrival?
    private var parts = 0

    init(_ head: HTTPRequestHead, to listener: MediaListener) { (self.head, self.listener) = (head, listener) }

    func begin() async -> HTTPResponse? {
        await listener.refusing(head) { arrival = try await listener.begin(head) }
    }

    func take(_ part: [UInt8]) async -> HTTPResponse? {
        await listener.refusing(head) { try await keep(part) }
    }

    private func keep(_ part: [UInt8]) async throws {
        guard let arrival else { throw UploadAddress.used }
        let number = parts
        parts += 1
        try await listener.abandoning(arrival.address) {
            try await Loop.offload { try arrival.spool.write(part, number: number) }
        }
    }

    func finish(_ end: [UInt8]) async -> HTTPResponse {
        let refusal = await listener.refusing(head) {
            try await keep(end)
            guard let arrival else { throw UploadAddress.used }
            try await listener.take(arrival)
        }
        return refusal ?? listener.taken(head)
    }
}
