import BusProtocol
import Foundation

/// `vestibule logs`: what all processes of a system log, in the order of time.
enum LogsCommand {
    /// Lines that are shown where no time is given.
    private static let usualCount = 100

    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state", "--since", "--level"], flags: ["-f"], mostWords: 1)
        let state = try StateFolder(arguments["--state"], create: false)
        let service = arguments.rest.first
        let filter = LogFilter(
            since: try arguments["--since"].map { try LogFilter.time($0, now: .now()) },
            level: try arguments["--level"].map { try LogFilter.level($0) })
        var tails: [String: LogTail] = [:]
        func readNew() -> [LogLine] {
            for name in files(state, service) where tails[name] == nil {
                tails[name] = LogTail(path: "\(state.logs)/\(name)")
            }
            return LogLine.sorted(tails.keys.sorted().flatMap { tails[$0]?.readNew() ?? [] })
        }
        guard !files(state, service).isEmpty else { throw nothing(state, service) }
        let all = readNew()
        let fit = all.filter(filter.admits)
        let shown = filter.since == nil ? Array(fit.suffix(usualCount)) : fit
        for line in shown { say(line.text) }
        let cut = tails.filter { $0.value.isCut }.keys.sorted()
        for note in notes(left: fit.count - shown.count, hidden: all.count - fit.count, cut, filter) {
            say("vestibule: \(note)", to: 2)
        }
        // Who follows ends with whoever reads it.
        signal(SIGPIPE, SIG_DFL)
        while arguments.has("-f") {
            usleep(200_000)
            for line in readNew().filter(filter.admits) { say(line.text) }
        }
    }

    /// What is not shown, and how to see it.
    private static func notes(left: Int, hidden: Int, _ cut: [String], _ filter: LogFilter) -> [String] {
        var notes: [String] = []
        if left > 0 { notes.append("\(left) older lines are left out: --since 1h shows those of the last hour") }
        if hidden > 0 {
            notes.append("\(hidden) lines are below the level or before the time that was asked for")
        }
        if !cut.isEmpty {
            notes.append("only the last \(LogTail.mostBytes >> 20) MB were read of \(cut.joined(separator: ", "))")
        }
        return notes
    }

    private static func nothing(_ state: StateFolder, _ service: String?) -> CommandError {
        let all = files(state, nil)
        return CommandError(
            all.isEmpty
                ? "there are no logs in \(state.logs)"
                : "there is no log of \(service ?? "") in \(state.logs): it has \(all.joined(separator: ", "))")
    }

    /// `auth.log`, and `auth-2.log` of a second replica.
    private static func files(_ state: StateFolder, _ service: String?) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: state.logs))?.sorted() ?? []
        guard let service else { return all }
        return all.filter { $0 == "\(service).log" || $0.hasPrefix("\(service)-") && $0.hasSuffix(".log") }
    }
}

/// Which lines are shown.
struct LogFilter {
    private static let levels = ["debug", "info", "warning", "error"]

    let since: Timestamp?
    /// The least, as a place in ``levels``.
    let level: Int?

    /// What is no line of ours, a crash say, is shown whatever the level.
    func admits(_ line: LogLine) -> Bool {
        let isLate = since.map { line.at >= $0 } ?? true
        let isGrave = line.level.flatMap { Self.levels.firstIndex(of: $0) }.map { $0 >= level ?? 0 } ?? true
        return isLate && isGrave
    }

    static func level(_ word: String) throws -> Int {
        guard let place = levels.firstIndex(of: word) else {
            throw CommandError.usage("--level is \(levels.joined(separator: ", "))")
        }
        return place
    }

    /// - Parameter word: an age (`30s`, `15m`, `2h`, `1d`), or a time as the log has it.
    static func time(_ word: String, now: Timestamp) throws -> Timestamp {
        if let time = Timestamp(word) { return time }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = word.last.flatMap({ units[$0] }), let count = Int64(word.dropLast()),
            (0...36_500).contains(count)
        else { throw CommandError.usage("--since is an age, 15m or 2h, or a time, 2026-02-20T09:00:00Z") }
        return now - .seconds(count * unit)
    }
}

/// A line of a log, with its place in time.
struct LogLine {
    let text: String
    let at: Timestamp
    /// `nil` of what is no line of ours.
    let level: String?

    /// - Parameter last: the time of the line before it in its file: what has none belongs to that one.
    init(_ text: String, after last: Timestamp) {
        self.text = text
        at = Self.member("at", of: text).flatMap { Timestamp($0) } ?? last
        level = Self.member("level", of: text)
    }

    /// Lines of one time stay in the order in which they came.
    static func sorted(_ lines: [LogLine]) -> [LogLine] {
        lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Of a canonical JSON object, without reading the whole of it: there are hundred thousands of them.
    private static func member(_ name: String, of text: String) -> String? {
        guard text.hasPrefix("{"), let found = text.firstRange(of: "\"\(name)\":\"") else { return nil }
        let rest = text[found.upperBound...]
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }
}

/// The end of a file that grows.
struct LogTail {
    /// Of each file, at first.
    static let mostBytes: UInt64 = 8 << 20

    let path: String
    private var offset: UInt64?
    private var last = Timestamp(microsecondsSinceEpoch: 0)
    /// Whether its beginning was not read.
    private(set) var isCut = false

    init(path: String) { self.path = path }

    /// The whole lines that came since the last look.
    mutating func readNew() -> [LogLine] {
        guard let file = FileHandle(forReadingAtPath: path), let size = try? file.seekToEnd() else { return [] }
        defer { try? file.close() }
        // Begun anew since.
        if let offset, offset > size { self.offset = 0 }
        isCut = isCut || offset == nil && size > Self.mostBytes
        let start = offset ?? (size > Self.mostBytes ? size - Self.mostBytes : 0)
        guard size > start, (try? file.seek(toOffset: start)) != nil,
            let bytes = try? file.read(upToCount: Int(size - start)), let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        else {
            offset = start
            return []
        }
        let isFirst = offset == nil
        offset = start + UInt64(end + 1)
        var texts = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n")
        // The first one may be the rest of a line.
        if isFirst, isCut { texts = Array(texts.dropFirst()) }
        return texts.map { text in
            let line = LogLine(String(text), after: last)
            last = line.at
            return line
        }
    }
}
