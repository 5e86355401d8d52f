import JSONText

/// What a version says of the answers to the one before it. An entry that is none of these says nothing.
struct DefinitionMigrations {
    /// New keys by old ones.
    private(set) var renamed: [String: String] = [:]
    /// By question: new options by old ones.
    private(set) var options: [String: [String: String]] = [:]
    private(set) var converted: Set<String> = []
    private(set) var dropped: Set<String> = []

    init(_ entries: [JSONValue]) {
        for entry in entries {
            if let rename = entry["rename"], let old = rename["old"]?.stringValue, let new = rename["new"]?.stringValue
            {
                renamed[old] = new
            }
            if let map = entry["options"], let question = map["question"]?.stringValue {
                options[question, default: [:]].merge((map["map"]?.objectValue ?? [:]).compactMapValues(\.stringValue))
                {
                    $1
                }
            }
            if let question = entry["convert"]?["question"]?.stringValue { converted.insert(question) }
            if let question = entry["drop"]?["question"]?.stringValue { dropped.insert(question) }
        }
    }
}
