import BusProtocol
import EventLoop

extension GetProfileFields: MessageContract {
    static let canonical = GetProfileFields()
    static let minimal = GetProfileFields()
    static let maximal = GetProfileFields()

    private static let hash = String(repeating: "0af9", count: 16)
    private static let pattern = PlatformControls(web: "chips", ios: "scrolling_chips", android: "material_chips")
    private static let pets: ProfileFieldView = {
        var field = ProfileFieldView(
            key: "pets", label: "Pets", step: 2, type: "multi_choice", category: "optional", sensitive: false,
            skippable: true, allowsPreferNotToSay: false, visibility: "public", capabilities: [], storage: "text[]",
            pattern: pattern)
        field.options = [.init(key: "dogs", label: "Dogs"), .init(key: "none", label: "None", exclusive: true)]
        return field
    }()
    private static let small = ProfileFieldView(
        key: "k", label: "l", step: 1, type: "t", category: "o", sensitive: false, skippable: false,
        allowsPreferNotToSay: false, visibility: "p", capabilities: [], storage: "s",
        pattern: PlatformControls(web: "w", ios: "i", android: "a"))
    private static let large: ProfileFieldView = {
        var field = ProfileFieldView(
            key: String(repeating: "k", count: 64), label: "Vad du heter ☕️", step: 64, type: "text",
            category: "encouraged", sensitive: true, skippable: true, allowsPreferNotToSay: true,
            visibility: "private", capabilities: ["like", "match", "message", "full_confidence"], storage: "text",
            pattern: pattern)
        (field.format, field.unit, field.suggestion) = ("person_name", "in", 66)
        (field.min, field.max, field.minLength, field.maxLength) = (-1_000_000, 1_000_000, 0, 4096)
        (field.minAge, field.maxAge, field.maxSelections) = (0, 150, 500)
        field.options = (1...500).map { .init(key: "option_\($0)", label: "Val \($0) 🔥", exclusive: $0 == 1) }
        return field
    }()

    static let canonicalReply = ProfileFields(
        key: "profile", version: 1, hash: hash, language: "en",
        steps: [
            .init(step: 1, key: "account", label: "Account", fields: [], required: true, skippable: false),
            .init(step: 2, key: "life", label: "Life", fields: ["pets"], required: false, skippable: true),
        ], fields: [pets])
    static let minimalReply = ProfileFields(
        key: "p", version: 1, hash: hash, language: "en",
        steps: [.init(step: 1, key: "a", label: "A", fields: [], required: false, skippable: false)], fields: [small])
    static let maximalReply = ProfileFields(
        key: "profile", version: 2_147_483_647, hash: hash, language: "zh-Hant-TW",
        steps: [.init(step: 64, key: "s", label: "Steg ✨", fields: [large.key], required: true, skippable: true)],
        fields: [large])

    static let errors: [BusError] = []

    static let hasEffect = false
    static let clockMembers: Set<String> = []

    static func everyday(_ profile: ProfileProvider) async throws -> Asked<GetProfileFields> {
        Asked(GetProfileFields())
    }

    static let provocations: [String: Provocation<ProfileProvider, GetProfileFields>] = [:]
}
