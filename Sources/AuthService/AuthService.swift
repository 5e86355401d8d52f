@main struct AuthServiceMain {
    static func main() {}
}
