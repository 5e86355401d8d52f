import JSONText

extension JSONSchema {
    /// The values that the OpenAPI document lists for a member, sorted.
    package func known(_ member: String) -> [String] {
        members.first { $0.name == member }?.schema.known.sorted() ?? []
    }

    private var known: [String] {
        switch self {
        case .string(let rule): rule.values ?? rule.known ?? []
        case .nullable(let inner), .named(_, let inner), .array(let inner, _), .map(let inner, _): inner.known
        default: []
        }
    }
}
