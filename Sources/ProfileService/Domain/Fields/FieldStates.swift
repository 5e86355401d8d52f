import Values

/// The states of fields by their keys. Rules look up all fields of a catalogue several times a request. A profile has
/// few states, so a linear search is faster than hashing.
struct FieldStates: Sendable, ExpressibleByDictionaryLiteral {
    private var marks: [KeyMark] = []
    private var entries: [(key: String, state: FieldState)] = []

    /// No states.
    init() {}

    init(dictionaryLiteral elements: (String, FieldState)...) {
        for (key, state) in elements { self[key] = state }
    }

    mutating func reserveCapacity(_ count: Int) {
        marks.reserveCapacity(count)
        entries.reserveCapacity(count)
    }

    /// All states, in no particular order.
    var states: some Collection<FieldState> { entries.lazy.map(\.state) }

    subscript(field: ProfileField) -> FieldState? { place(of: field.key, field.mark).map { entries[$0].state } }

    subscript(key: String) -> FieldState? {
        get { place(of: key, KeyMark(key)).map { entries[$0].state } }
        set {
            let mark = KeyMark(key)
            switch (place(of: key, mark), newValue) {
            case (let place?, let state?): entries[place].state = state
            case (let place?, nil):
                marks.remove(at: place)
                entries.remove(at: place)
            case (nil, let state?):
                marks.append(mark)
                entries.append((key, state))
            case (nil, nil): break
            }
        }
    }

    private func place(of key: String, _ mark: KeyMark) -> Int? {
        for place in marks.indices where marks[place] == mark && entries[place].key == key { return place }
        return nil
    }
}

extension FieldStates: Equatable {
    static func == (one: FieldStates, other: FieldStates) -> Bool {
        one.entries.count == other.entries.count && one.entries.allSatisfy { other[$0.key] == $0.state }
    }
}
