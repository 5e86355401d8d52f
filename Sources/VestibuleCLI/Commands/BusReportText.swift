import BusProtocol
import BusRuntime
import EventLoop
import Foundation
import JSONText

/// `vestibule bus stats`, `tail` and `drain`.
extension BusCommand {
    // MARK: stats

    /// Prints counts and times of every message since the replicas started, with sums over the replicas of each
    /// service.
    ///
    /// - Parameter name: the name of the service; `nil` for all services.
    static func stats(_ bus: BusAccess, of name: String?, asJSON: Bool) throws {
        let service = try name.map { try known($0, bus) }
        let replicas = try waiting { try await look(bus, at: service) { _ in .report } }
        say(asJSON ? try json(replicas) : text(replicas))
        let silent = replicas.filter { $0.answer?.report == nil }.map(\.endpoint)
        guard silent.isEmpty else { throw CommandError("no figures from \(silent.joined(separator: ", "))") }
    }

    private static func json(_ replicas: [Replica]) throws -> String {
        let values = try replicas.map { replica -> JSONValue in
            guard case .object(var members) = replica.json, let report = replica.answer?.report else {
                return replica.json
            }
            members["report"] = try JSONValue.parse(WireJSON.encode(report))
            return .object(members)
        }
        return String(decoding: CanonicalJSON.bytes(of: .array(values)), as: UTF8.self)
    }

    private static func text(_ replicas: [Replica]) -> String {
        var (rows, notes) = ([[String]](), [String]())
        for service in Set(replicas.map(\.service)).sorted(by: { $0.rawValue < $1.rawValue }) {
            let reports = replicas.filter { $0.service == service }.compactMap { $0.answer?.report }
            rows += sum(reports.flatMap(\.served)).map { row(service, "from", $0) }
            rows += sum(reports.flatMap(\.asked)).map { row(service, "to", $0) }
            notes += notice(of: service, reports)
        }
        let head = [
            "service", "message", "from or to", "ok", "failed", "in flight", "retries", "shed", "p50", "p99",
            "waited p99",
            "failures",
        ]
        return ([TextTable.text(of: [head] + rows)] + notes).joined(separator: "\n")
    }

    private static func sum(_ traffic: [Traffic]) -> [Traffic] {
        Dictionary(grouping: traffic) { "\($0.message) \($0.partner)" }.sorted { $0.key < $1.key }
            .compactMap { _, same in same.dropFirst().reduce(same.first) { $0?.adding($1) } }
    }

    private static func row(_ service: ServiceName, _ direction: String, _ traffic: Traffic) -> [String] {
        func time(_ histogram: Histogram, _ share: Double) -> String {
            histogram.quantile(share).map { String(format: "%.1f ms", $0 / .milliseconds(1)) } ?? ""
        }
        let failures = traffic.ended.filter { $0.key != "ok" }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return [
            service.rawValue, traffic.message, "\(direction) \(traffic.partner)", "\(traffic.succeeded)",
            "\(traffic.failed)", "\(traffic.inFlight)", "\(traffic.retries)", "\(traffic.shed)",
            time(traffic.took, 0.5), time(traffic.took, 0.99), time(traffic.waited, 0.99),
            failures.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
        ]
    }

    /// Events that get a line only if they happened.
    private static func notice(of service: ServiceName, _ reports: [BusReport]) -> [String] {
        var notes: [String] = []
        func note(_ count: Int, _ what: String) { if count > 0 { notes.append("\(service): \(count) \(what)") } }
        let fates = Dictionary(grouping: reports.flatMap(\.fates), by: \.service)
        for (asked, fates) in fates.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            note(fates.reduce(0) { $0 + $1.lost }, "times a replica of \(asked) was lost")
            note(
                fates.reduce(0) { $0 + $1.ejected },
                "times a replica of \(asked) was ejected because it did not answer")
            note(fates.reduce(0) { $0 + $1.malformedFrames }, "frames of \(asked) could not be read")
        }
        let counters = reports.map(\.counters)
        note(counters.reduce(0) { $0 + $1.malformedFrames }, "frames of callers could not be read")
        note(
            counters.reduce(0) { $0 + $1.foreignFrames },
            "frames came from callers that are not allowed, or in an unknown wire version")
        note(counters.reduce(0) { $0 + $1.undeliverable }, "replies came too late for the caller")
        note(counters.reduce(0) { $0 + $1.internalErrors }, "internal errors (see vestibule logs \(service))")
        return notes
    }

    // MARK: tail

    /// Prints requests as the replicas answer them, without their content, until the command is interrupted.
    static func tail(_ bus: BusAccess, of name: String?, asJSON: Bool) throws {
        let service = try name.map { try known($0, bus) }
        // By instance, since a new process starts counting again.
        var last: [Identifier: UInt64] = [:]
        var instances: [String: Identifier] = [:]
        while true {
            let known = instances.compactMapValues { last[$0] }
            let replicas = try waiting { try await look(bus, at: service) { .answers(after: known[$0] ?? 0) } }
            var records: [(replica: Replica, record: AnswerRecord)] = []
            for replica in replicas {
                guard let answer = replica.answer else { continue }
                instances[replica.endpoint] = answer.instance
                if let seen = last[answer.instance], let first = answer.answers.first, first.number > seen + 1 {
                    say("\(replica.service): \(first.number - seen - 1) more were answered and are not shown", to: 2)
                }
                if let newest = answer.answers.last { last[answer.instance] = newest.number }
                records += answer.answers.map { (replica, $0) }
            }
            for (replica, record) in records.sorted(by: { $0.record.at < $1.record.at }) {
                say(asJSON ? json(replica, record) : line(replica, record))
            }
            usleep(200_000)
        }
    }

    private static func line(_ replica: Replica, _ record: AnswerRecord) -> String {
        let time = String(format: "%.1f ms", Double(record.microseconds) / 1000)
        return "\(record.at) \(replica.service) \(record.type) from \(record.caller): \(record.code) in \(time), "
            + "trace \(record.traceID), message \(record.messageID)"
    }

    private static func json(_ replica: Replica, _ record: AnswerRecord) -> String {
        let value: JSONValue = [
            "at": .string(record.at.description), "service": .string(replica.service.rawValue),
            "instance": .string(replica.answer?.instance.description ?? ""), "type": .string(record.type.rawValue),
            "caller": .string(record.caller.rawValue), "code": .string(record.code),
            "microseconds": .integer(record.microseconds), "traceId": .string(record.traceID),
            "messageId": .string(record.messageID.description),
        ]
        return String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self)
    }

    // MARK: drain

    /// Makes one replica finish its work and end. Its supervisor then starts a new one.
    ///
    /// - Parameter name: the replica's endpoint or instance, as `ls` and `info` show them.
    static func drain(_ bus: BusAccess, _ name: String) throws {
        guard let replica = try waiting({ try await look(bus) }).first(where: { $0.isCalled(name) }) else {
            throw CommandError("there is no replica \(name) that answers: see vestibule bus ls")
        }
        let isDraining = try waiting {
            let security = try await bus.security()
            guard await security.name == .operator else {
                throw CommandError("draining a replica needs the operator's key", code: 77)
            }
            return await BusProbe.look(
                at: replica.endpoint, of: replica.service, as: security, question: .drain, within: .seconds(2)) != nil
        }
        guard isDraining else { throw CommandError("\(replica.endpoint) did not confirm that it drains") }
        let begin = Date()
        // The time of the first look without an answer, and the number of such looks.
        var (silentSince, silences) = (begin, 0)
        while Date().timeIntervalSince(begin) < 15 {
            let asked = Date()
            let (service, endpoint) = (replica.service, replica.endpoint)
            let instance = try waiting {
                await BusProbe.look(at: endpoint, of: service, as: try await bus.security(), within: patience)?.instance
            }
            if silences == 0 { silentSince = asked }
            silences = instance == nil ? silences + 1 : 0
            // The replica has ended if another instance answers, or after three looks without an answer. A single one
            // may be a pause.
            let hasEnded = instance.map { $0 != replica.answer?.instance } ?? (silences >= 3)
            guard !hasEnded else {
                let seconds = String(format: "%.1f", silentSince.timeIntervalSince(begin))
                return say("\(endpoint) ended after \(seconds) s")
            }
            usleep(50_000)
        }
        throw CommandError("\(replica.endpoint) drains, but has not ended after 15 s")
    }
}

extension BusCommand.Replica {
    fileprivate func isCalled(_ name: String) -> Bool {
        answer != nil && (endpoint == name || answer?.instance.description == name)
    }
}
