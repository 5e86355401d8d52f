import BusProtocol
import Database
import Foundation
import JSONText
import Synchronization
import Testing

@testable import ProcessRuntime

@Suite("The log") struct LogTests {
    /// An error of somebody else's, with words of its own.
    private struct Talkative: Error, CustomStringConvertible { let description = "+14155552671 is unknown" }

    private final class Lines: Sendable {
        let written = Mutex<[[UInt8]]>([])
    }

    @Test(
        "an error is logged by its kind, not its text",
        arguments: [
            (DatabaseError.statement(sqlState: "23505", constraint: "phones_pkey"), "SQLSTATE 23505 phones_pkey"),
            (DatabaseError.statement(sqlState: "42P01", constraint: nil), "SQLSTATE 42P01"),
            (DatabaseError.unreadable(column: "status"), "unreadable column status"),
            (DatabaseError.statement(sqlState: "55P03", constraint: nil, tables: "outbox"), "SQLSTATE 55P03 on outbox"),
            (DatabaseError.busy, "no connection was free in time"),
            (DatabaseError.unavailable, "database unavailable"),
            (BusError(.otpExpired, "Code 123456 expired."), "otp_expired"),
            (Talkative(), "Talkative"),
        ] as [(any Error, String)])
    func names(error: any Error, name: String) { #expect(Log.name(of: error) == name) }

    @Test func aLineIsOneJSONObjectAndWrittenFromItsLevelOn() throws {
        let (lines, instance) = (Lines(), Identifier.ordered())
        let log = Log(service: .auth, instance: instance, threshold: .warning) { line in
            lines.written.withLock { $0.append(line) }
        }
        func never() -> [String: JSONValue] {
            Issue.record("fields were made for a line that is not written")
            return [:]
        }
        log.info("quiet", never())
        log.warning("loud", ["text": "a\nb"])
        let written = lines.written.withLock { $0 }
        try #require(written.count == 1)
        #expect(written[0].last == UInt8(ascii: "\n") && written[0].count { $0 == UInt8(ascii: "\n") } == 1)
        let line = try JSONValue.parse(Array(written[0].dropLast()))
        #expect(line["event"] == "loud" && line["level"] == "warning" && line["service"] == "auth")
        #expect(line["instance"] == .string(instance.description) && line["text"] == "a\nb" && line["traceId"] == nil)
        #expect(line["at"]?.stringValue.flatMap { Timestamp($0) } != nil)
    }

    /// A slow reader, or none at all, delays nobody who logs.
    @Test func aSlowLogReaderDelaysNoWriter() throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, room: 200_000)
        // More than a pipe and the room hold together, and nobody reads.
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        for _ in 0..<2000 { writer.append(line) }
        let reader = pipe.fileHandleForReading
        var text = ""
        while !text.contains("log_lines_dropped") || !text.hasSuffix("\n") {
            text += String(decoding: reader.availableData, as: UTF8.self)
        }
        let lines = text.split(separator: "\n")
        let told = lines.filter { $0.hasPrefix("{") }.compactMap {
            try? JSONValue.parse(Array($0.utf8))["lines"]?.integerValue
        }
        #expect(lines.allSatisfy { $0.hasPrefix("{") || $0.count == 999 })
        #expect(lines.count { !$0.hasPrefix("{") } + Int(told.reduce(0, +)) == 2000)
        writer.append(Array("last\n".utf8))
        writer.flush()
        #expect(String(decoding: reader.availableData, as: UTF8.self) == "last\n")
    }
}
