import Foundation

/// The `vestibule` command.
@main enum VestibuleMain {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        do {
            try run(words.first ?? "--help", words.dropFirst())
            if outputIsLost.load(ordering: .relaxed) { throw CommandError("not all output could be written", code: 74) }
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
        case "load": try LoadCommand.run(words)
        case "sms": try SMSCommand.run(words)
        case "email": try EmailCommand.run(words)
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
        case "plan": try PlanCommand.run(words)
        case "schema": try SchemaCommand.run(words)
        case "help", "--help", "-h": say(Help.text)
        default:
            guard try SingleDocumentCommand.run(command, words) else {
                throw CommandError.usage("there is no command \(command); see vestibule --help")
            }
        }
    }
}

enum Help {
    static let text = """
        vestibule: onboarding on this machine

          vestibule up [--state DIR] [--http HOST:PORT] [--scale auth=2,…] [--hang-after SECONDS] [--detach]
                                          start everything and supervise it until Ctrl-C
          vestibule down [--state DIR]    stop the system that up started
          vestibule scale auth=3,… [--state DIR]
                                          change how many replicas of a service run
          vestibule status [--state DIR] [--json]
                                          state, restarts and last exit of every process; and what is not ready
          vestibule status --http HOST:PORT [--within SECONDS | --alive]
                                          whether a system that up did not start is ready, or becomes so within that time;
                                          --alive: whether its gateway answers
          vestibule top [--state DIR] [--once]
                                          requests, errors, times, database and outbox of each service, each second;
                                          --once: one table
          vestibule logs [--state DIR] [-f] [--since AGE] [--level LEVEL] [SERVICE]
                                          logs of the services and the supervisor as JSON lines, by time: the last 100, or all
                                          since 15m, 2h or a time; LEVEL is the lowest shown: info, warning or error
          vestibule database [--state DIR] [--json]
                                          active database sessions, how long they run, and which lock blocks which
          vestibule demo [--plan KEY] [--state DIR] [--http HOST:PORT]
                                          take one person through the public API, or through a plan to its end; starts
                                          a system if none runs
          vestibule demo --spool DIR [--plan KEY] [--http HOST:PORT]
                                          the same on a system that up did not start and that spools to DIR
          vestibule load --scenario onboarding | login | read | autosave | mixed --rate R --for TIME
                         [--connections N] [--record FILE] [--state DIR]
                                          start R actions a second for a time such as 30s or 2m, whatever became of the earlier
                                          ones, and print how long they took from their intended starts; R counts people for
                                          onboarding, some 45 calls each; --record writes the same as JSON. Only for a
                                          development system, which was started with GATEWAY_RATE_LIMIT=off
                                          AUTH_SMS_PER_HOUR=off AUTH_SMS_PER_HOUR_COUNTRY=off; codes come from its spool
          vestibule sms last PHONE [--state DIR | --spool DIR]
                                          the last SMS to a number, from the development spool
          vestibule email last ADDRESS [--state DIR | --spool DIR]
                                          the last email to an address, from the development spool
          vestibule dead-letters list [--state DIR] [--json]
                                          messages that could not be delivered and were given up
          vestibule dead-letters show ID [--state DIR] [--json]
                                          one of them: type, IDs and numbers, never its content
          vestibule dead-letters replay ID… | --all [--state DIR] [--json]
                                          deliver them again, then the messages that wait behind them
          vestibule audit verify [SERVICE] [--state DIR] [--json]
                                          whether a row of the audit trails was changed, removed, moved or inserted
          vestibule recovery ls [--status STATUS] [--state DIR] [--json]
                                          recoveries that wait for a reviewer, oldest first; or those with a status
          vestibule recovery show ID | export ID [--state DIR]
                                          one recovery with its audit trail, as text or as JSON
          vestibule recovery approve ID | reject ID --note TEXT [--operator NAME] [--state DIR]
                                          decide a recovery in an operator's name
          vestibule migrate [SERVICE] [--state DIR]
                                          migrate the schemas, as up does before it starts the services
          vestibule config [--json]       every environment variable, with its default
          vestibule bus ls [--state DIR] [--json]
                                          every replica on the bus: its state, its load, its response time
          vestibule bus info SERVICE | ping SERVICE [--state DIR]
                                          details of each replica of a service; ten round trips to each
          vestibule bus stats [SERVICE] [--state DIR] [--json]
                                          counts, times and failures of every message since the start
          vestibule bus tail [SERVICE] [--state DIR] [--json]
                                          requests as they are answered, without their content
          vestibule bus drain REPLICA [--state DIR]
                                          one replica, by endpoint or instance, finishes its work and ends
          vestibule bus call TYPE [JSON] [--as-operator] [--state DIR]
                                          send one message for no person; a message that changes something needs
                                          --as-operator, and the service logs it
          vestibule keys list | make | renew NAME | revoke PUBLIC-KEY | allow NAME PUBLIC-KEY
                          [--state DIR | --keys DIR]
                                          keys that may connect to the bus; a change takes effect within a second
          vestibule keys rotate-signing [--state DIR]
                                          sign access tokens with a new key once every gateway knows it
          vestibule role ls [--state DIR] [--json]
                                          people who are staff or admin, and changes that wait for a second operator
          vestibule role grant | revoke PERSON staff | admin [--operator NAME] [--state DIR]
                                          change a role and end the person's sessions; admin needs two operators
          vestibule account suspend | restore PERSON --note TEXT [--operator NAME] [--state DIR]
                                          block an account, or unblock it
          vestibule account backfill --complete FILE [--state DIR] [--json]
                                          people in FILE, one ID a line, skip the onboarding from now on
          vestibule account rehash-phones [--batch N] [--state DIR]
                                          store all phones under auth's present look-up keys; if interrupted, run it again
          vestibule funnel [--from DAY] [--to DAY] [--plan KEY [--version N] [--entry KEY]] [--state DIR] [--json]
                                          how far people came who began on these days, and where they left
          vestibule questionnaire ls [KEY] [--state DIR] [--json]
                                          questionnaires in use; or the versions and drafts of one
          vestibule questionnaire check FILE [--state DIR] [--json]
                                          everything that is wrong with a definition, with its line; if a system runs, also
                                          compared with its published versions
          vestibule questionnaire diff OLD NEW [--json]
                                          each change, and what it asks of people with open sessions
          vestibule questionnaire import FILE [--state DIR]
                                          make a draft of a definition, and list what keeps it from being published
          vestibule questionnaire publish KEY DRAFT [--accept CLASS] [--state DIR]
                                          make a draft the next version; CLASS is the gravest class of change that you accept:
                                          editorial, additive, rescore, reask or breaking
          vestibule questionnaire delete-draft KEY DRAFT [--state DIR]
                                          delete a draft that was not published
          vestibule questionnaire migrate KEY [--dry-run] [--batch N] [--state DIR]
                                          move every open session to the newest version; if interrupted, run it again
          vestibule questionnaire seal [--batch N] [--state DIR]
                                          seal dates and answers about health from before; if interrupted, run it again
          vestibule plan ls [KEY] [--state DIR] [--json]
                                          plans in use with their apps; or the versions and drafts of one
          vestibule plan check FILE [--state DIR] [--json]
                                          everything that is wrong with a plan, with its line; if a system runs, also
                                          compared with its other plans and its questionnaires
          vestibule plan diff OLD NEW [--json]
                                          each change, and what it asks of people
          vestibule plan import FILE [--state DIR]
                                          make a draft of a plan, and list what keeps it from being published
          vestibule plan publish KEY DRAFT [--accept CLASS] [--state DIR]
                                          make a draft the next version, for people who begin from then on
          vestibule plan delete-draft KEY DRAFT [--state DIR]
                                          delete a draft that was not published
        \(SingleDocumentCommand.help)
          vestibule schema export DIR     write every message of the bus as JSON Schema and AsyncAPI

        Without them, --state is .vestibule and --http is 127.0.0.1:8080. Without --state, dead-letters, audit and migrate use
        the databases of AUTH_DATABASE_URL, PROFILE_DATABASE_URL … (or …_FILE), if the environment has them.
        Exit codes: 0 done, 3 nothing runs from the state folder (status, scale), 64 wrong usage, 65 wrong data (an audit
        trail that was changed, a definition with errors, unknown people), 66 a file that cannot be read, 69 something needed
        is not available, 73 the state folder cannot be used, 74 output that cannot be written, 78 a configuration that is
        refused, 130 interrupted, 1 anything else.
        """
}
