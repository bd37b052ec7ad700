/** Sentences of travellers and meetings, and words that a correct Spanish translation has. Written before they were translated. */

export interface Sentence {
  readonly text: string;
  /** Each must be found; alternatives are separated by |. */
  readonly words: readonly string[];
}

const LINES = `
The museum is closed on Mondays. / museo, cerrado, lunes
Where is the train station? / dónde, estación, tren
How much does this cost? / cuánto, cuesta|vale
I need to see a doctor. / necesito, ver, médico|doctor
My name is Peter and I am from Germany. / nombre|llamo, soy, Alemania
Can you help me find my hotel? / puede|puedes, ayudar|ayudarme, hotel
What time does the bus leave? / qué hora, autobús|bus, sale|parte
I would like a cup of coffee, please. / gustaría|quisiera|querría, café, por favor
Thank you very much for your help. / gracias, ayuda
Do you have a table for two people? / tiene|tienes|tenéis|tienen, mesa, dos personas
Turn left at the next street. / gire|gira|doble|dobla, izquierda, calle
The room is on the second floor. / habitación|cuarto|sala, segund, piso|planta
I do not speak Spanish. / no hablo, español|castellano
Could you speak more slowly, please? / podría|podrías|puede, hablar, despacio|lentamente
My suitcase did not arrive. / maleta, no lleg
I lost my passport yesterday. / perdí, pasaporte, ayer
The meeting starts at nine. / reunión, empieza|comienza, nueve
We have to sign the contract today. / tenemos que|debemos, firmar, contrato, hoy
The weather is very good today. / tiempo|clima, buen, hoy
I am looking for the pharmacy. / busco|buscando, farmacia
Is there a bank near here? / hay, banco, cerca
The food is very good. / comida, buena
I am allergic to nuts. / alérgic, nueces|frutos secos
My daughter is five years old. / hija, cinco años
We will arrive tomorrow morning. / llegaremos, mañana
The train was late. / tren, tarde|retras
He works in a big hospital. / trabaja, hospital, grande|gran
She lives in Barcelona with her sister. / vive, Barcelona, hermana
They bought a new house last year. / compraron, casa, nueva, año pasado
The key does not work. / llave, no funciona
The internet is very slow here. / internet, lent, aquí
Please close the door. / cierre|cierra|cerrad, puerta
I have a reservation for three nights. / tengo, reserva, tres noches
The museum opens at ten. / museo, abre, diez
The children are playing in the garden. / niños, juegan|jugando, jardín
I forgot my umbrella at home. / olvid|dejé, paraguas, casa
It is raining a lot. / llueve|lloviendo, mucho
Where can I buy a ticket? / dónde, comprar, billete|boleto|entrada
The airport is far from the city. / aeropuerto, lejos, ciudad
We need more time. / necesitamos, más tiempo
This document is important. / documento, importante
The price is too high. / precio, demasiado alto|muy alto
I agree with you. / acuerdo
The company has two hundred employees. / empresa|compañía, doscientos|200, empleados
Our office is in Madrid. / nuestra oficina, Madrid
I will send you the report on Friday. / enviaré|mandaré, informe, viernes
The problem is not the money. / problema, no es, dinero
What do you think? / qué, piensa|piensas|opina|crees|cree
I do not understand the question. / no entiendo|no comprendo, pregunta
Can you repeat that? / puede|puedes, repetir
The water is cold. / agua, fría
My brother is a teacher. / hermano, profesor|maestro
The restaurant is next to the bank. / restaurante, lado|junto, banco
I like this city very much. / gusta, ciudad, mucho
The police are coming. / policía, viene|viniendo|vienen
Call an ambulance. / llame|llama|llamad, ambulancia
Where does it hurt? / dónde, duele
You must take this medicine twice a day. / debe|debes|tiene que|tienes que, medicina|medicamento, dos veces, día
The flight leaves in twenty minutes. / vuelo, sale, veinte|20, minutos
See you tomorrow. / mañana, vemos|veo|hasta
`;

export const SENTENCES: readonly Sentence[] = LINES.trim()
  .split('\n')
  .map((line) => {
    const [text = '', words = ''] = line.split(' / ');
    return { text, words: words.split(', ') };
  });

/** How many of the words a translation has. */
export const foundWords = ({ words }: Sentence, translation: string): number =>
  words.filter((word) => new RegExp(`(?<!\\p{L})(?:${word})`, 'iu').test(translation)).length;
