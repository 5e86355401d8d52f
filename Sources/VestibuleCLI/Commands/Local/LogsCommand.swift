import BusProtocol
import Foundation

/// `vestibule logs`: the logs of all processes of a system, in the order of time.
enum LogsCommand {
    /// The number of lines to show if the command gets no time.
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
        // Ends the command when the reader of its pipe ends.
        signal(SIGPIPE, SIG_DFL)
        while arguments.has("-f") {
            usleep(200_000)
            for line in readNew().filter(filter.admits) { say(line.text) }
        }
    }

    /// Notes about lines that the command does not show, and how to see them.
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

    /// The log files of a service, one for each replica: `auth.log`, `auth-2.log`. Without a service, it returns all
    /// files.
    private static func files(_ state: StateFolder, _ service: String?) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: state.logs))?.sorted() ?? []
        guard let service else { return all }
        return all.filter { $0 == "\(service).log" || $0.hasPrefix("\(service)-") && $0.hasSuffix(".log") }
    }
}

/// Decides which lines are shown.
struct LogFilter {
    private static let levels = ["debug", "info", "warning", "error"]

    let since: Timestamp?
    /// The lowest level shown, as an index of `levels`.
    let level: Int?

    /// Lines of other programs, such as the message of a crash, are shown at any level.
    func admits(_ line: LogLine) -> Bool {
        let isLate = since.map { line.at >= $0 } ?? true
        let isGrave = line.level.flatMap { Self.levels.firstIndex(of: $0) }.map { $0 >= level ?? 0 } ?? true
        return isLate && isGrave
    }

    static func level(_ word: String) throws -> Int {
        guard let place = levels.firstIndex(of: word) else {
            throw CommandError.usage("--level takes one of \(levels.joined(separator: ", "))")
        }
        return place
    }

    /// - Parameter word: an age (`30s`, `15m`, `2h`, `1d`), or a time as in the log.
    static func time(_ word: String, now: Timestamp) throws -> Timestamp {
        if let time = Timestamp(word) { return time }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = word.last.flatMap({ units[$0] }), let count = Int64(word.dropLast()),
            (0...36_500).contains(count)
        else { throw CommandError.usage("--since takes an age (15m, 2h) or a time (2026-02-20T09:00:00Z)") }
        return now - .seconds(count * unit)
    }
}

/// A line of a log with its time.
struct LogLine {
    let text: String
    let at: Timestamp
    /// `nil` if the line is not one of our log's.
    let level: String?

    /// - Parameter last: the time of the line before it in the file. A line without a time gets this one.
    init(_ text: String, after last: Timestamp) {
        self.text = text
        at = Self.member("at", of: text).flatMap { Timestamp($0) } ?? last
        level = Self.member("level", of: text)
    }

    /// Sorts by time. Lines with the same time keep their order.
    static func sorted(_ lines: [LogLine]) -> [LogLine] {
        lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Finds a string member of a canonical JSON object without parsing it, since there may be 100,000 lines and more.
    private static func member(_ name: String, of text: String) -> String? {
        guard text.hasPrefix("{"), let found = text.firstRange(of: "\"\(name)\":\"") else { return nil }
        let rest = text[found.upperBound...]
        return rest.firstIndex(of: "\"").map { String(rest[..<$0]) }
    }
}

/// Reads the end of a growing file.
struct LogTail {
    /// The most bytes of a file that the first read takes.
    static let mostBytes: UInt64 = 8 << 20

    let path: String
    private var offset: UInt64?
    private var last = Timestamp(microsecondsSinceEpoch: 0)
    /// Whether the beginning of the file was skipped.
    private(set) var isCut = false

    init(path: String) { self.path = path }

    /// The complete lines that were added since the last call.
    mutating func readNew() -> [LogLine] {
        guard let file = FileHandle(forReadingAtPath: path), let size = try? file.seekToEnd() else { return [] }
        defer { try? file.close() }
        // A smaller file was replaced by a new one.
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
        // After a skip, the first line may lack its beginning.
        if isFirst, isCut { texts = Array(texts.dropFirst()) }
        return texts.map { text in
            let line = LogLine(String(text), after: last)
            last = line.at
            return line
        }
    }
}
