import EventLoop
import Foundation
import ProviderHTTP

/// Sends emails through a relay in the operator's own network, which speaks TLS with the world.
///
/// Each email has a connection of its own. Nothing blocks the loop: a name is looked up on another thread, and the socket
/// does not block.
struct SMTPProvider: MessageProvider {
    let name = "smtp"
    let host: String
    let port: Int
    let sender: EmailAddress
    let senderName: String
    let login: SMTPDialogue.Login?

    @Loop func send(_ message: OutgoingMessage, within limit: Duration) async throws(MessageError) {
        guard let recipient = EmailAddress(message.to) else { throw .unusableContact }
        let mail = MailMessage(
            id: message.id, sender: sender, senderName: senderName, recipient: recipient,
            subject: message.subject ?? "", body: message.body, date: Date())
        let exchange = SMTPExchange(SMTPDialogue(mail, login: login))
        switch await exchange.run(host, port, within: limit) {
        case .taken: return
        case .noSuchMailbox: throw .unusableContact
        case .failed(let failure): throw .notTaken(host: host, failure)
        }
    }
}

/// One connection to a relay, from the look-up of its name to the end.
@Loop private final class SMTPExchange {
    enum Outcome: Sendable {
        case taken, noSuchMailbox
        case failed(ProviderFailure)
    }

    private var dialogue: SMTPDialogue
    private let outcome = LoopPromise<Outcome>()
    private var addresses: ArraySlice<RelayAddress> = []
    private var descriptor: Int32 = -1
    private var watch: FileWatch?
    private var isConnected = false
    private var unsent: ArraySlice<UInt8> = []

    init(_ dialogue: SMTPDialogue) { self.dialogue = dialogue }

    func run(_ host: String, _ port: Int, within limit: Duration) async -> Outcome {
        let timer = LoopTimer(after: limit) { [self] in end(.failed(.noAnswer)) }
        Loop.spawn { await self.find(host, port) }
        let result = (try? await outcome.get()) ?? .failed(.noAnswer)
        timer.cancel()
        return result
    }

    private func find(_ host: String, _ port: Int) async {
        let found = (try? await Loop.offload { RelayAddress.all(of: host, port: port) }) ?? []
        guard !outcome.isResolved else { return }
        guard !found.isEmpty else { return end(.failed(ProviderFailure("host_not_found"))) }
        addresses = found[...]
        connect()
    }

    /// Tries the next address.
    private func connect() {
        hangUp()
        guard let address = addresses.popFirst() else { return end(.failed(.connectionRefused)) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { return end(.failed(ProviderFailure("no_socket"))) }
        guard address.connect(descriptor) == 0 || errno == EINPROGRESS else { return connect() }
        watch = FileWatch(descriptor, for: .write) { [self] in advance($0) }
    }

    private func advance(_ ready: FileInterest) {
        if !isConnected {
            var (error, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else {
                return connect()
            }
            isConnected = true
            watch?.update(.read)
            return
        }
        if ready.contains(.write) { flush() }
        if ready.contains(.read), !outcome.isResolved { read() }
    }

    private func read() {
        var room = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &room, room.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end(.failed(ProviderFailure("connection_lost"))) }
        switch dialogue.take(Array(room[..<count])) {
        case .wait: return
        case .send(let bytes):
            unsent = bytes[...]
            flush()
        case .taken:
            // The relay has accepted the message, even if QUIT does not reach it.
            unsent = ArraySlice("QUIT\r\n".utf8)
            flush()
            end(.taken)
        case .noSuchMailbox: end(.noSuchMailbox)
        case .failed(let reason): end(.failed(ProviderFailure(reason)))
        }
    }

    private func flush() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                unsent = unsent.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                break
            } else if count == 0 || errno != EINTR {
                return end(.failed(ProviderFailure("connection_lost")))
            }
        }
        watch?.update(unsent.isEmpty ? .read : [.read, .write])
    }

    private func end(_ result: Outcome) {
        hangUp()
        outcome.resolve(.success(result))
    }

    private func hangUp() {
        watch?.cancel()
        watch = nil
        if descriptor >= 0 { close(descriptor) }
        (descriptor, isConnected) = (-1, false)
    }
}

/// A numeric address of a relay.
private struct RelayAddress: Sendable {
    let family: Int32
    private let bytes: [UInt8]

    /// Looks a name up. It may block.
    static func all(of host: String, port: Int) -> [RelayAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { item in
            guard let info = item?.pointee, let address = info.ai_addr else { return nil }
            let bytes = UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen))
            return RelayAddress(family: info.ai_family, bytes: Array(bytes))
        }
    }

    func connect(_ descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                Foundation.connect(descriptor, $0.baseAddress, socklen_t(bytes.count))
            }
        }
    }
}
