import BusProtocol
import Database
import EventLoop

/// Where the captures of sessions are uploaded to.
@Loop protocol Captures: Sendable {
    /// Promises an upload; `nil` if the person is erased.
    func reserve(
        contentType: String, length: Int64, for person: Identifier, in transaction: Transaction
    ) async throws -> PromisedCapture?
    /// Whether the upload has arrived.
    func hasArrived(_ media: Identifier, of person: Identifier, in transaction: Transaction) async throws -> Bool
    /// The picture; `nil` once it is destroyed.
    func bytes(of media: Identifier) async throws -> [UInt8]?
    /// Destroys the picture, whatever happens to this replica.
    func destroy(_ media: Identifier, in transaction: Transaction)
}

/// An upload that was promised to a person.
struct PromisedCapture: Sendable {
    let media: Identifier
    /// A secret, which belongs in no log.
    let url: String
    let expiresAt: Timestamp
}

/// Captures among the other pictures that people upload.
struct StoredCaptures: Captures {
    let media: MediaStore

    func reserve(
        contentType: String, length: Int64, for person: Identifier, in transaction: Transaction
    ) async throws -> PromisedCapture? {
        guard media.vault != nil else {
            throw BusError(.serviceUnavailable, "Photos cannot be sent right now. Please try again later.")
        }
        let reserved = try await media.reserve(
            .verification, contentType: contentType, length: length, for: person, in: transaction)
        return reserved.map { PromisedCapture(media: $0.media, url: $0.url, expiresAt: $0.expiresAt) }
    }

    func hasArrived(_ media: Identifier, of person: Identifier, in transaction: Transaction) async throws -> Bool {
        try await self.media.hasArrived(media, .verification, of: person, in: transaction)
    }

    func bytes(of media: Identifier) async throws -> [UInt8]? {
        try await self.media.bytes(of: media, .verification)
    }

    func destroy(_ media: Identifier, in transaction: Transaction) {
        self.media.destroy(media, because: "verification_over", in: transaction)
    }
}
