import EventLoop
import Foundation
import JSONText

/// Reads the new messages of a spool, and passes each to the task that waits for it.
@Loop final class SpoolTail {
    /// No message came in time.
    struct Late: Error {}

    private let file: Int32
    private var waiting: [String: LoopPromise<String>] = [:]
    private var unread: [UInt8] = []
    private var timer: LoopTimer?

    /// - Throws: ``CommandError`` if the spool cannot be read.
    init(_ path: String) throws {
        file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CommandError("\(path) cannot be read", code: 66) }
        lseek(file, 0, SEEK_END)
    }

    isolated deinit { close(file) }

    /// Waits for the code of the next message to a contact. Ask for it before the message is sent.
    func code(for contact: String, within limit: Duration) -> LoopPromise<String> {
        let promise = LoopPromise<String>()
        waiting[contact] = promise
        _ = LoopTimer(after: limit) { [weak promise] in promise?.resolve(.failure(Late())) }
        if timer == nil { look() }
        return promise
    }

    /// Reads the new messages. It looks again in a millisecond while a task waits.
    private func look() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { unread += buffer.prefix(count) }
        var lines = unread.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        unread = Array(lines.removeLast())
        for line in lines {
            guard let message = try? JSONValue.parse(Array(line)), let contact = message["to"]?.stringValue else {
                continue
            }
            waiting.removeValue(forKey: contact)?.resolve(
                .success(String(message["body"]?.stringValue?.prefix(6) ?? "")))
        }
        waiting = waiting.filter { !$0.value.isResolved }
        timer = waiting.isEmpty ? nil : LoopTimer(after: .milliseconds(1)) { [weak self] in self?.look() }
    }
}
