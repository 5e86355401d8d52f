@main struct QuestionnaireServiceMain {
    static func main() {}
}
