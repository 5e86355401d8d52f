/// The numbering plans of all countries: which national numbers behind a calling code may get an SMS, and where they are.
///
/// An automaton over digits, made by `scripts/numbering` out of the metadata of libphonenumber and written so that it has
/// no state twice. `Numbering/plan.txt` has three paragraphs:
/// - the release of the metadata;
/// - calling codes, a line each: `code:state`, then each ``Spelling`` as `written>meant`;
/// - states, a line each: the region of a number that ends there, if one does, and `digits:distance` for each way on.
///   `2-9:14` means "on any digit of 2 to 9 to the fourteenth state before this one".
struct NumberingPlan: Sendable {
    static let current = NumberingPlan(EmbeddedFiles.Numbering.plan.text.description)

    /// How many write what national numbers begin with, and what they mean by it: a trunk zero, which is no part of the
    /// number, or Argentina's 15 behind the area code, for which others dial a 9 before it.
    struct Spelling: Sendable {
        let written: [UInt8]
        let meant: [UInt8]
    }

    struct CallingCode: Sendable {
        fileprivate let root: Int
        /// The longest first.
        fileprivate(set) var spellings: [Spelling] = []
    }

    private struct State {
        var region: String?
        /// By digit.
        var next = [UInt16](repeating: 0, count: 10)
    }

    /// The numbering metadata that it was made of.
    let source: String

    private let codes: [[UInt8]: CallingCode]
    /// The first is that of no number, out of which nothing leads.
    private let states: [State]

    /// Every region that has numbers: ISO 3166-1 alpha-2, and `AC`, `TA` and `XK`, which ISO has not.
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

    /// The calling code that digits begin with, and how many of them it is. No code is the beginning of another one.
    func callingCode(of digits: [UInt8]) -> (code: CallingCode, count: Int)? {
        for count in 1...3 {
            if let code = codes[Array(digits.prefix(count))] { return (code, count) }
        }
        return nil
    }

    /// Where a whole national number is; `nil` where it is no number that may get an SMS.
    func region(of national: [UInt8], behind code: CallingCode) -> String? {
        states[national.reduce(code.root) { Int(states[$0].next[Int($1)]) }].region
    }
}
