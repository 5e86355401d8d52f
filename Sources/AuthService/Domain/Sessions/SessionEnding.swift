/// Why a session ends.
enum SessionEnding: String {
    case logout
    /// The person ended it, from this session or another one.
    case ended
    /// Its device was removed.
    case device
    /// A replaced refresh token was used again.
    case reuse
    /// It was not renewed for too long, or is too old.
    case age
    /// The identity that opened it no longer opens the account.
    case unlinked
    /// Its tokens have a role that the person no longer has.
    case role
    /// A change of the number was undone. The session made the change, or was opened since shortly before it.
    case undone
    /// Its account was deleted.
    case deleted
    /// The account was recovered.
    case recovered
    /// The account was suspended.
    case suspended
}
