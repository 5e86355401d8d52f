import Foundation

/// The `vestibule` command.
@main enum VestibuleMain {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        do {
            try run(words.first ?? "--help", words.dropFirst())
        } catch let error as CommandError {
            say("vestibule: \(error.message)", to: 2)
            exit(error.code)
        } catch {
            say("vestibule: \(error)", to: 2)
            exit(1)
        }
    }

    private static func run(_ command: String, _ words: ArraySlice<String>) throws {
        if words.contains("--help") { return say(Help.text) }
        switch command {
        case "up": try UpCommand.run(words)
        case "down": try DownCommand.run(words)
        case "status": try StatusCommand.run(words)
        case "top": try TopCommand.run(words)
        case "logs": try LogsCommand.run(words)
        case "demo": try DemoCommand.run(words)
        case "sms": try SMSCommand.run(words)
        case "scale": try ScaleCommand.run(words)
        case "database": try DatabaseCommand.run(words)
        case "dead-letters": try DeadLettersCommand.run(words)
        case "audit": try AuditCommand.run(words)
        case "recovery": try RecoveryCommand.run(words)
        case "migrate": try MigrateCommand.run(words)
        case "config": try ConfigCommand.run(words)
        case "bus": try BusCommand.run(words)
        case "keys": try KeysCommand.run(words)
        case "role": try RoleCommand.run(words)
        case "account": try AccountCommand.run(words)
        case "funnel": try FunnelCommand.run(words)
        case "questionnaire": try QuestionnaireCommand.run(words)
        case "schema": try SchemaCommand.run(words)
        case "help", "--help", "-h": say(Help.text)
        default: throw CommandError.usage("there is no command \(command); see vestibule --help")
        }
    }
}

enum Help {
    static let text = """
        vestibule: onboarding on this machine

          vestibule up [--state DIR] [--http HOST:PORT] [--scale auth=2,…] [--detach]
                                          start everything and supervise it until Ctrl-C
          vestibule down [--state DIR]    stop what up started
          vestibule scale auth=3,… [--state DIR]
                                          have a running system start or end replicas of a service
          vestibule status [--state DIR] [--json]
                                          every process: how it is, its restarts, its last end; and what is not ready
          vestibule status --http HOST:PORT
                                          whether a system that was started otherwise is ready
          vestibule top [--state DIR] [--once]
                                          what each service does now, again each second: requests, errors, times,
                                          database, outbox; --once: one table of one second
          vestibule logs [--state DIR] [-f] [--since AGE] [--level LEVEL] [SERVICE]
                                          what the services and the supervisor log, as JSON lines in the order of time: the
                                          last 100, or all since 15m, 2h or a time; from info, warning or error on
          vestibule database [--state DIR] [--json]
                                          who works in the database, for how long, and who waits for whose lock
          vestibule demo [--state DIR] [--http HOST:PORT]
                                          carry one person through; starts a system where none runs
          vestibule demo --spool DIR [--http HOST:PORT]
                                          the same on a system that was started otherwise and spools to DIR
          vestibule sms last PHONE [--state DIR | --spool DIR]
                                          the last SMS to a number, from the development spool
          vestibule dead-letters list [--state DIR] [--json]
                                          what could not be delivered and was given up
          vestibule dead-letters show ID [--state DIR] [--json]
                                          one of it: kind, ids and numbers, never what is in it
          vestibule dead-letters replay ID… | --all [--state DIR] [--json]
                                          have it tried again, and what waits behind it after it
          vestibule audit verify [SERVICE] [--state DIR] [--json]
                                          whether a row of the audit trails was changed, removed, moved or inserted
          vestibule recovery ls [--status STATUS] [--state DIR] [--json]
                                          the recoveries that wait for a reviewer, the oldest first; or those of a status
          vestibule recovery show ID | export ID [--state DIR]
                                          one of them with its whole trail, for a person or as JSON
          vestibule recovery approve ID | reject ID --note TEXT [--operator NAME] [--state DIR]
                                          decide upon one in an operator's name
          vestibule migrate [SERVICE] [--state DIR]
                                          bring the schemas up to date, as up does before it starts the services
          vestibule config [--json]       every environment variable, with its default
          vestibule bus ls [--state DIR] [--json]
                                          every replica on the bus: how it is, how busy, how fast it answers
          vestibule bus info SERVICE | ping SERVICE [--state DIR]
                                          what each replica of a service says of itself; ten round trips to each
          vestibule bus stats [SERVICE] [--state DIR] [--json]
                                          what came of every message since the start: counts, times, failures
          vestibule bus tail [SERVICE] [--state DIR] [--json]
                                          requests as they are answered, without what is in them
          vestibule bus drain REPLICA [--state DIR]
                                          has one replica, by endpoint or instance, finish its work and end
          vestibule bus call TYPE [JSON] [--as-operator] [--state DIR]
                                          one message, in nobody's name; what changes something needs --as-operator
                                          and is logged by the service
          vestibule keys list | make | renew NAME | revoke PUBLIC-KEY | allow NAME PUBLIC-KEY
                          [--state DIR | --keys DIR]
                                          who may speak on the bus; a change holds within a second
          vestibule keys rotate-signing [--state DIR]
                                          sign access tokens with a new key, as soon as every gateway knows it
          vestibule role ls [--state DIR] [--json]
                                          who is staff or admin, and what waits for a second operator
          vestibule role grant | revoke PERSON staff | admin [--operator NAME] [--state DIR]
                                          the person's sessions end; admin takes two operators
          vestibule account suspend|restore PERSON --note TEXT [--operator NAME] [--state DIR]
          vestibule account backfill --complete FILE [--state DIR] [--json]
                                          people by their ids, one on each line, skip the onboarding from now on
          vestibule account rehash-phones [--batch N] [--state DIR]
                                          writes all phones under auth's look-up keys, and no other; run again, it goes on
          vestibule funnel [--from DAY] [--to DAY] [--state DIR] [--json]
                                          how far those came who began within the days, and where they left
          vestibule questionnaire ls [KEY] [--state DIR] [--json]
                                          the questionnaires that are in use; or the versions and drafts of one
          vestibule questionnaire check FILE [--state DIR] [--json]
                                          everything that is wrong with a definition, with its line; where a system runs,
                                          against its published versions, too
          vestibule questionnaire diff OLD NEW [--json]
                                          what changed, and what each change asks of people who are under way
          vestibule questionnaire import FILE [--state DIR]
                                          makes a draft of a definition, and says what keeps it from being published
          vestibule questionnaire publish KEY DRAFT [--accept CLASS] [--state DIR]
                                          makes a draft the next version; CLASS is the gravest change that is meant:
                                          editorial, additive, rescore, reask or breaking
          vestibule questionnaire delete-draft KEY DRAFT [--state DIR]
                                          deletes a draft that was not published
          vestibule questionnaire migrate KEY [--dry-run] [--batch N] [--state DIR]
                                          moves every open session to the newest version; run again, it goes on
          vestibule questionnaire seal-dates [--batch N] [--state DIR]
                                          seals dates among answers from before dates were sealed; run again, it goes on
          vestibule schema export DIR     every message of the bus, as JSON Schema and AsyncAPI

        --state is .vestibule and --http is 127.0.0.1:8080 where they are not given. Without --state, dead-letters, audit and migrate
        ask the services whose AUTH_DATABASE_URL, PROFILE_DATABASE_URL … (or …_FILE) the environment has.
        Exit codes: 0 done, 3 nothing runs from the state folder (status), 64 wrong usage, 65 an audit trail that does not
        hold, a definition with errors or a list with people who are unknown, 66 a file that cannot be read, 69 something needed is not to be
        had, 73 the state folder cannot be used, 78 a configuration that is refused, 130 interrupted, 1 anything else.
        """
}
