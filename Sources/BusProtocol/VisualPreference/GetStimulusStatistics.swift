import JSONText

/// Asks how people dealt with the pictures of a stimulus set, in its newest sessions. The reply contains nobody's choices.
@Message
public struct GetStimulusStatistics: PublicRequest {
    public typealias Reply = StimulusStatistics
    public static let type: MessageType = "visual-preference.get-statistics"
    public static let rules = MessageRules(
        service: .visualPreference, callers: [.gateway], effect: .read, errors: [.unauthorized, .forbidden, .notFound])
    public static let route = HTTPRoute(
        .get, "/admin/visual-preferences/sets/{n}/statistics", .admin,
        "How people dealt with the pictures of a stimulus set.")

    /// The number of the set's version, from 1.
    ///
    /// In decimal digits, as in the path.
    @Field(.string(1...10), from: .path("n")) public var version: String
}

/// The answer to ``GetStimulusStatistics``.
@Message
public struct StimulusStatistics: PublicReply {
    /// The number of the set's version.
    @Field(.integer(1...2_147_483_647)) public var version: Int64
    /// Who made the pictures, and who may use them.
    @Field(.string(1...1000), example: "CC0-1.0") public var licence: String
    /// The sessions that were examined: the newest, at most 5,000.
    @Field(.count, example: 962) public var sessions: Int64
    /// How many of them have each status.
    @Field(.count, count: 0...16) public var statuses: [String: Int64]
    /// How many of them are flagged: `too_fast` for answers that nobody can have thought about, `one_side` for answers that
    /// are nearly always on one side.
    @Field(.count, count: 0...16) public var flags: [String: Int64]
    /// The answered comparisons.
    @Field(.count, example: 19_240) public var answered: Int64
    /// The comparisons in which the picture on the left was chosen.
    @Field(.count, example: 9120) public var left: Int64
    /// The comparisons in which neither picture was chosen.
    @Field(.count, example: 880) public var neither: Int64
    /// The comparisons of which the service knew what a person should choose.
    @Field(.count, example: 4810) public var checks: Int64
    /// The checks that held.
    @Field(.count, example: 4702) public var checksHeld: Int64
    /// The median time of a choice, in milliseconds. Missing if there is no choice.
    @Field(.number(0...86_400_000), example: 1400) public var medianMs: Double?
    /// The pictures in the order of the set. Empty below 20 sessions: the counts would tell single people's choices.
    @Field(count: 0...1000) public var items: [StimulusItemStatistics]
}

/// How people dealt with one picture.
@Message
public struct StimulusItemStatistics: MessageValue {
    /// The picture in its set.
    @Field(.string(1...64), example: "face_01") public var id: String
    /// The answered comparisons that had it.
    @Field(.count, example: 905) public var shown: Int64
    /// Those in which it was chosen.
    @Field(.count, example: 410) public var chosen: Int64
}
