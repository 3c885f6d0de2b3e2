import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decision/json.js";
import { type Deployment, loadDeployment, type Role, resolveModel } from "../../src/engine/deployment.js";
import { loadLanguageDetector } from "../../src/engine/language-detector.js";
import {
  type DetectLanguage,
  explainRoute,
  type Route,
  type RouteReason,
  routeState,
} from "../../src/engine/router.js";

const DIRECTORY = fileURLToPath(new URL("../../deployments", import.meta.url));

const SHORT_ENGLISH = "I was charged twice for my March invoice, please refund one of them.";
const ENGLISH =
  "Hello, I ordered a pair of running shoes two weeks ago and the parcel still has not arrived. The tracking page has said " +
  "the same thing for nine days now, and nobody picks up the phone. Could you please tell me where it is, or send me another pair?";
const GERMAN =
  "Guten Tag, ich habe vor zwei Wochen ein Paar Schuhe bestellt und das Paket ist immer noch nicht angekommen. Bitte sagen Sie mir, wo es bleibt.";
const FRENCH =
  "Bonjour, je n'arrive plus à me connecter à mon compte depuis hier soir et personne ne répond au téléphone.";
const SPANISH =
  "Hola, me han cobrado dos veces la factura de marzo y nadie responde al teléfono. Quiero que me devuelvan el dinero.";

let detect: DetectLanguage;
let a: Deployment;
let b: Deployment;
beforeAll(async () => {
  detect = await loadLanguageDetector();
  [a, b] = await Promise.all([loadDeployment("a", DIRECTORY), loadDeployment("b", DIRECTORY)]);
});

const routed = (state: JsonValue, deployment: Deployment): Route => routeState(state, deployment.routing, detect);
const checkpointOf = (state: JsonValue, deployment: Deployment) =>
  deployment.checkpoints[routed(state, deployment).role];

describe("the deployments' reference checks", () => {
  it("send a short English billing message to core-multilingual-0.3.20 on A and to core-0.3.5 on B", () => {
    expect(checkpointOf(SHORT_ENGLISH, a)).toBe("core-multilingual-0.3.20");
    expect(checkpointOf(SHORT_ENGLISH, b)).toBe("core-0.3.5");
  });

  it("send a longer English text to the English checkpoint on both", () => {
    expect(checkpointOf(ENGLISH, a)).toBe("core-0.3.20");
    expect(checkpointOf(ENGLISH, b)).toBe("core-0.3.5");
  });

  it.each([
    ["German", GERMAN],
    ["French", FRENCH],
    ["Spanish", SPANISH],
  ])("send a %s text to the multilingual checkpoint on both", (_, text) => {
    expect(checkpointOf(text, a)).toBe("core-multilingual-0.3.20");
    expect(checkpointOf(text, b)).toBe("core-multilingual-0.3.9");
  });

  it("route every alias that clients send, the default among them", () => {
    for (const deployment of [a, b]) {
      const names = ["latest", "preview", "1.13.0"].flatMap((version) => [`compat-${version}`, `jev-${version}`]);
      for (const name of [...names, "core-latest", undefined])
        expect(resolveModel(deployment, name)).toEqual({ type: "routed" });
    }
  });
});

describe("routeState with the real detector", () => {
  const both = (role: Role, reason: string) => ({ a: [role, reason], b: [role, reason] });
  const multilingual = (reason: string) => both("multilingual", reason);
  const fewLetters = { a: ["multilingual", "few_letters"], b: ["english", "language"] };
  const undecided = { a: ["multilingual", "undecided"], b: ["english", "undecided"] };

  it.each<[string, JsonValue, { a: string[]; b: string[] }]>([
    ["a short English message", SHORT_ENGLISH, fewLetters],
    ["a short English question", "Where is my parcel? It should have been here last week.", fewLetters],
    ["a long English message", ENGLISH, both("english", "language")],
    ["English with a name in accents", `${ENGLISH} Best regards, Zoë Müller-Øster`, both("english", "language")],
    ["English with a word of another script", `${ENGLISH} The label said Ω and β.`, both("english", "language")],
    ["English in paragraphs", `Hello,\n\n${ENGLISH}\n\nKind regards\nAnna`, both("english", "language")],
    [
      "English in an object, whose keys are not",
      { Betreff: "Where is my parcel?", Nachricht: ENGLISH },
      both("english", "language"),
    ],
    ["English with a foreign paragraph", `${ENGLISH}\n\n${GERMAN}`, multilingual("foreign_paragraph")],
    ["English with a foreign paragraph in front", `${FRENCH}\n${ENGLISH}`, multilingual("foreign_paragraph")],
    [
      "English turns and a foreign one",
      [{ text: ENGLISH }, { text: ENGLISH }, { text: SPANISH }],
      multilingual("foreign_paragraph"),
    ],
    ["English with a paragraph in another script", `${ENGLISH}\n\nСпасибо`, multilingual("script")],
    ["German", GERMAN, multilingual("language")],
    ["French", FRENCH, multilingual("language")],
    ["Spanish", SPANISH, multilingual("language")],
    [
      "Italian",
      "Buongiorno, vorrei sapere quando arriverà il mio ordine perché è già passata una settimana.",
      multilingual("language"),
    ],
    [
      "Dutch",
      "Goedemorgen, ik heb vorige week een bestelling geplaatst maar ik heb nog steeds niets ontvangen.",
      multilingual("language"),
    ],
    [
      "Polish",
      "Dzień dobry, nie mogę zalogować się na swoje konto i nikt nie odbiera telefonu.",
      multilingual("language"),
    ],
    [
      "Turkish",
      "Merhaba, geçen hafta verdiğim sipariş hâlâ gelmedi ve kimse telefona cevap vermiyor.",
      multilingual("language"),
    ],
    [
      "Swedish",
      "Hej, jag har blivit debiterad två gånger för samma faktura och ingen svarar i telefonen.",
      multilingual("language"),
    ],
    ["Russian", "Здравствуйте, где мой заказ?", multilingual("script")],
    ["Japanese", "注文した靴がまだ届きません。", multilingual("script")],
    ["Arabic", "أين طلبي؟ لم يصل بعد.", multilingual("script")],
    ["Hindi", "मेरा ऑर्डर अभी तक नहीं आया है।", multilingual("script")],
    ["Thai", "สินค้ายังไม่มาถึงเลย", multilingual("script")],
    ["Greek", "Πού είναι η παραγγελία μου;", multilingual("script")],
    ["one Chinese word", "好", multilingual("script")],
    ["nothing", "", undecided],
    ["blanks", " \n\t ", undecided],
    ["digits and marks", "4711 / 0815 -- 12.50 !!", undecided],
    ["a state without strings", { total: 12, paid: false, items: [] }, undecided],
    ["foreign keys and nothing else", { Здравствуйте: 1, "где мой заказ": null }, undecided],
  ])("routes %s", (_, state, expected) => {
    const shown = ({ role, reason }: Route) => [role, reason.type];
    expect({ a: shown(routed(state, a)), b: shown(routed(state, b)) }).toEqual(expected);
  });

  it("names the language that decided", () => {
    expect(routed(GERMAN, a).reason).toEqual({ type: "language", language: "de" });
    expect(routed(`${ENGLISH}\n${FRENCH}`, b).reason).toEqual({ type: "foreign_paragraph", language: "fr" });
    expect(routed(ENGLISH, a).reason).toEqual({ type: "language", language: "en" });
  });

  it("reads the first 4,000 characters only", () => {
    const long = `${ENGLISH} `.repeat(30).slice(0, 3999);
    expect(routed(`${long}\n${GERMAN}`, a).role).toBe("english");
    expect(routed(`${long}\n${"好".repeat(500)}`, b).role).toBe("english");
    expect(routed(`${long.slice(0, 3500)}\n${GERMAN}`, a).role).toBe("multilingual");
  });
});

describe("routeState with a detector that says what it is told", () => {
  const rules = { undecided: "multilingual", englishMinLetters: 10 } as const;
  const says =
    (language: string, reliable = true): DetectLanguage =>
    () => ({ language, reliable });

  it.each<[string, string, DetectLanguage, Role, RouteReason]>([
    [
      "believes English from the letters needed on",
      "abcdefghij",
      says("en"),
      "english",
      { type: "language", language: "en" },
    ],
    [
      "not one letter earlier",
      "abcdefghi 123",
      says("en"),
      "multilingual",
      { type: "few_letters", letters: 9, needed: 10 },
    ],
    [
      "does not count digits, marks and blanks",
      "a1 b2! c3",
      says("en"),
      "multilingual",
      { type: "few_letters", letters: 3, needed: 10 },
    ],
    ["leaves a guess undecided", "abcdefghijkl", says("en", false), "multilingual", { type: "undecided" }],
    ["leaves a foreign guess undecided too", "abcdefghijkl", says("fr", false), "multilingual", { type: "undecided" }],
    [
      "believes a foreign language however short",
      "ab",
      says("fr"),
      "multilingual",
      { type: "language", language: "fr" },
    ],
  ])("%s", (_, text, detector, role, reason) => {
    expect(routeState(text, rules, detector)).toEqual({ role, reason });
  });

  it("does not ask it about a text in another script", () => {
    const never: DetectLanguage = () => {
      throw new Error("was asked");
    };
    expect(routeState("Где мой заказ?", rules, never).reason).toEqual({ type: "script" });
  });

  it("asks it about paragraphs from 60 letters on, never about a text of one paragraph twice", () => {
    const asked: string[] = [];
    const listen: DetectLanguage = (text) => {
      asked.push(text);
      return { language: "en", reliable: true };
    };
    const [short, long] = ["x".repeat(59), "y".repeat(60)];
    routeState([short, long, "", short], rules, listen);
    expect(asked).toEqual([`${short}\n${long}\n\n${short}`, long]);
    asked.length = 0;
    routeState(long, rules, listen);
    expect(asked).toEqual([long]);
  });
});

describe("explainRoute", () => {
  it.each<[Route, string]>([
    [{ role: "english", reason: { type: "named" } }, "asked for by name"],
    [{ role: "multilingual", reason: { type: "script" } }, "not in Latin script"],
    [{ role: "english", reason: { type: "language", language: "en" } }, "language detected: en"],
    [
      { role: "multilingual", reason: { type: "foreign_paragraph", language: "de" } },
      "holds a paragraph in another language (de)",
    ],
    [
      { role: "multilingual", reason: { type: "few_letters", letters: 54, needed: 160 } },
      "looks English, but 54 letters are too few to be sure (160 needed): multilingual",
    ],
    [{ role: "english", reason: { type: "undecided" } }, "language undecided: english"],
  ])("says of %j: %s", (route, words) => {
    expect(explainRoute(route)).toBe(words);
  });
});
