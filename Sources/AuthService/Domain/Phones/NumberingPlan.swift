/// The numbering plans of all countries: which national numbers after a calling code may get an SMS, and their regions.
///
/// It is a minimal automaton over digits. `scripts/numbering` makes it from the metadata of libphonenumber.
/// `Numbering/plan.txt` has three paragraphs:
/// - the release of the metadata;
/// - calling codes, a line each: `code:state`, then each ``Spelling`` as `written>meant`;
/// - states, a line each: the region of a number that ends there, if any, and `digits:distance` for each transition.
///   `2-9:14` means "with any digit of 2 to 9, go to the fourteenth state before this one".
struct NumberingPlan: Sendable {
    static let current = NumberingPlan(EmbeddedFiles.Numbering.plan.text.description)

    /// A common way to write the beginning of a national number, and the digits that are meant.
    ///
    /// One example is a trunk zero, which is not part of the number. Another is Argentina's 15 after the area code:
    /// callers from abroad dial a 9 before the area code instead.
    struct Spelling: Sendable {
        let written: [UInt8]
        let meant: [UInt8]
    }

    struct CallingCode: Sendable {
        fileprivate let root: Int
        /// In order, the longest first.
        fileprivate(set) var spellings: [Spelling] = []
    }

    private struct State {
        var region: String?
        /// The next state for each digit.
        var next = [UInt16](repeating: 0, count: 10)
    }

    /// The release of the metadata.
    let source: String

    private let codes: [[UInt8]: CallingCode]
    /// The first state is that of invalid numbers. No transition leaves it.
    private let states: [State]

    /// Every region that has numbers: codes of ISO 3166-1 alpha-2, and also `AC`, `TA` and `XK`.
    let regions: Set<String>

    private init(_ file: String) {
        let paragraphs = file.split(separator: "\n\n")
        source = String(paragraphs[0])
        codes = Self.read(codes: paragraphs[1])
        states = paragraphs[2].split(separator: "\n").reduce(into: [State()]) { known, line in
            known.append(Self.state(of: line, at: known.count))
        }
        regions = Set(self.states.compactMap(\.region))
    }

    private static func read(codes: Substring) -> [[UInt8]: CallingCode] {
        var known: [[UInt8]: CallingCode] = [:]
        var code: [UInt8] = []
        for word in codes.split(whereSeparator: \.isWhitespace) {
            let parts = word.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == ">" }
            if word.contains(">") {
                known[code]?.spellings.append(Spelling(written: digits(in: parts[0]), meant: digits(in: parts[1])))
            } else {
                code = digits(in: parts[0])
                known[code] = CallingCode(root: Int(parts[1]) ?? 0)
            }
        }
        return known
    }

    private static func state(of line: Substring, at place: Int) -> State {
        var state = State()
        for item in line.split(separator: ",") {
            let parts = item.split(separator: ":")
            guard parts.count == 2, let distance = Int(parts[1]) else {
                state.region = String(item)
                continue
            }
            let range = digits(in: parts[0])
            for digit in range[0]...range[range.count - 1] { state.next[Int(digit)] = UInt16(place - distance) }
        }
        return state
    }

    /// The values of the digits in `2-9` or `46`.
    private static func digits(in text: Substring) -> [UInt8] { text.compactMap(\.wholeNumberValue).map(UInt8.init) }

    /// The calling code at the beginning of the digits, and its length. No calling code is a prefix of another.
    func callingCode(of digits: [UInt8]) -> (code: CallingCode, count: Int)? {
        for count in 1...3 {
            if let code = codes[Array(digits.prefix(count))] { return (code, count) }
        }
        return nil
    }

    /// The region of a complete national number; `nil` if no such number may get an SMS.
    func region(of national: [UInt8], behind code: CallingCode) -> String? {
        states[national.reduce(code.root) { Int(states[$0].next[Int($1)]) }].region
    }
}
