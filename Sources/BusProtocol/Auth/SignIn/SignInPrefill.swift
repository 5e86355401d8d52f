import JSONText

/// What an identity provider says of a person. The app may offer it in its form, and saves only what the person keeps.
///
/// Vestibule stores none of it.
@Message
public struct SignInPrefill: MessageValue {
    /// The whole name.
    @Field(.string(1...200), example: "Åsa") public var name: String?
    /// The HTTPS address of a picture at the provider.
    @Field(.string(1...2048), example: "https://lh3.googleusercontent.com/a/photo") public var picture: String?
}
