@main struct ProfileServiceMain {
    static func main() {}
}
